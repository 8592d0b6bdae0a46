"""What the study found, as tables: docs/study.md from the numbers that its figures are drawn from."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.study import SHORT_LIST
from benchmarks.study_data import MOST, WORDS
from separatrix.app.ranking import Ranking, ranked

HERE = Path(__file__).parent
NUMBERS = HERE.parent / "examples" / "practice" / "study.json"
PAGE = HERE.parent / "docs" / "study.md"

CURVED = ["a ball in a shell", "Hastie's ten Gaussians", "moons", "circles"]  # by construction
KINDS = {  # of data: what a row of the table of sets has to say
    "all": lambda s: True,
    "separable, proved": lambda s: s["separable"] == s["problems"],
    "not separable, proved": lambda s: s["separable"] < s["problems"] and s["name"] not in CURVED,
    "a curved boundary": lambda s: s["name"] in CURVED,
    "fewer than 2 rows for each column": lambda s: s["n"] < 2 * s["d"],
    "more than 100 columns, or words": lambda s: s["d"] > 100 or "words" in s["name"],
    "three and more classes": lambda s: s["classes"] > 2,
    "a class below 10%": lambda s: s["rarest"] < 0.1,
}


SPECIAL = {  # sets with one property that decides, and who is compared there
    "3 of 100 features matter": "accuracy",
    "heavy tails": "accuracy",
    "5 of 20 features, 30% flipped": "accuracy",
    "120 rows, 100 features": "accuracy",
    "circles": "accuracy",
    "8% in one class": "balanced",
    "w8a": "balanced",
}
COMPARED = ["MaxMargin", "MaxMargin (hinge)", "LinearProgram", "BalancedWinnow", "AROW", "Pocket", "Perceptron"]
COMPARED += ["Perceptron (averaged)", "LeastSquares", "sklearn LogisticRegression", "KernelMaxMargin"]

SPECIAL_HEAD = """Single sets that have one property in the extreme, in percent; balanced accuracy, the mean over the
classes, where a class is rare. One set is an example and no test."""
KINDS_HEAD = """Mean accuracies in percent. There are too few sets of each kind for a test, so that small differences
mean nothing. `KernelMaxMargin`, with a Gaussian kernel, is not linear: it shows what a curved boundary would gain."""
SETS_HEAD = """"Rarest" is the share of the smallest class. "Separable": how many of the problems, each class against
the rest, a hyperplane separates; proved in exact arithmetic, either way. "Margin": the largest one, certified to the
digits that are shown, after standardising."""


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    """The means of every cell; sets that are not finished, and classifiers that failed anywhere, are left out."""
    sets = [name for name in found["sets"] if len(found["cells"][name]) == max(map(len, found["cells"].values()))]
    everyone = list(found["cells"][sets[0]])
    failed = {
        who: found["cells"][s][who]["error"] for who in everyone for s in sets if "error" in found["cells"][s][who]
    }
    names = [who for who in everyone if who not in failed]

    def table(of: Any, digits: int) -> list[list[Any]]:
        rows = [[of(found["cells"][s][who], found["sets"][s]) for who in names] for s in sets]
        return [[None if value is None else round(float(value), digits) for value in row] for row in rows]

    results = []
    for name in sets:
        about = found["sets"][name]
        results.append(
            {
                "name": name,
                **about,
                "separable": sum(map(bool, about["separable"])),
                "problems": len(about["separable"]),
            }
        )
    return {
        "setting": found["setting"],
        "names": names,
        "short_list": SHORT_LIST,
        "failed": failed,
        "sets": results,
        "accuracy": table(lambda c, s: np.mean(c["accuracy"]), 4),
        "balanced": table(lambda c, s: np.mean(c["balanced"]), 4),
        "milliseconds": table(lambda c, s: 1e3 * np.median(c["seconds"]), 3),
        "ended": table(lambda c, s: np.mean(c["converged"]), 2),
        "share": table(_share, 4),
    }


def _share(one: dict[str, Any], about: dict[str, Any]) -> float | None:
    """Of the best margin, where each class is separable from the rest; negative where a row is on the wrong side."""
    if "upper" not in about or one["margin"] is None:
        return None
    return one["margin"] / about["upper"]


def ranking(results: dict[str, Any], names: list[str] | None = None, measure: str = "accuracy") -> Ranking:
    names = names or results["names"]
    columns = [results["names"].index(name) for name in names]
    return ranked(names, np.array(results[measure])[:, columns])


def write(found: dict[str, Any]) -> None:
    results = numbers(found)
    NUMBERS.write_text(compact(results))
    PAGE.write_text(page(results))


def compact(results: dict[str, Any]) -> str:
    """JSON with a line for each row of a table."""
    parts = []
    for name, value in results.items():
        if isinstance(value, list) and not isinstance(value[0], str):
            rows = ",\n".join(f"  {json.dumps(row)}" for row in value)
            parts.append(f"{json.dumps(name)}: [\n{rows}\n]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def page(results: dict[str, Any]) -> str:
    head = (HERE / "study_head.md").read_text().strip().format(count=len(results["sets"]), rows=MOST, words=WORDS)
    parts = [head, _setting(results)]
    parts += ["## The ten of the short list", _figure(1, "Ten classifiers that people choose between.")]
    parts += [_words(ranking(results, results["short_list"]))]
    parts += ["## All of them", _figure(2, "All classifiers of the study.")]
    parts += [_words(ranking(results)), _everyone(results)]
    parts += ["## By kind of data", KINDS_HEAD, _kinds(results)]
    parts += ["## Sets with one property", SPECIAL_HEAD, _special(results)]
    parts += ["## The data sets", SETS_HEAD, _sets(results)]
    return "\n\n".join([*parts, _remarks(results)]) + "\n"


def _remarks(results: dict[str, Any]) -> str:
    """What was written about the numbers, with those that it names."""
    found, accuracy, k = ranking(results), np.array(results["accuracy"]), len(results["names"])
    plain, averaged = (results["names"].index(name) for name in ("Perceptron", "Perceptron (averaged)"))
    ours, theirs = (results["names"].index(name) for name in ("MaxMargin", "sklearn LinearSVC"))
    near = found.ranks < found.ranks.min() + found.critical_difference
    return (
        (HERE / "study_remarks.md")
        .read_text()
        .strip()
        .format(
            alike=int(near.sum()) - 1,
            others=k - 1,
            count=len(results["sets"]),
            averaging=f"{100 * np.mean(accuracy[:, averaged] - accuracy[:, plain]):.1f}",
            same=int(np.sum(accuracy[:, ours] == accuracy[:, theirs])),
            generated=sum(about["kind"] == "generated" for about in results["sets"]),
            rows=MOST,
            names=k,
            pairs=k * (k - 1) // 2,
        )
    )


def _figure(number: int, caption: str) -> str:
    return f"```{{drawn}} practice/plot_study {number}\n{caption}\n```"


def _setting(results: dict[str, Any]) -> str:
    """Peers of the race take no part here."""
    used = ("separatrix", "numpy", "scipy", "numba", "scikit-learn")
    return "; ".join([results["setting"]["machine"], *(f"{name} {results['setting'][name]}" for name in used)]) + "."


def _words(found: Ranking) -> str:
    first, *rest = found.order
    near = found.ranks < found.ranks[first] + found.critical_difference
    alike, worse = ([found.names[j] for j in rest if near[j] == same] for same in (True, False))
    text = (
        f"{len(found.names)} classifiers, {found.data_sets} data sets. That all are equal: p = {found.p_value:.1g}. "
        f"Critical difference: {found.critical_difference:.2f} ranks. The best average rank, "
        f"{found.ranks[first]:.2f}, is that of {found.names[first]}. "
    )
    if not worse:
        return text + "None of the others is distinguished from it."
    if len(worse) <= len(alike):
        return text + f"Significantly worse: {', '.join(worse)}. The other {len(alike)} are not."
    results = ", ".join(alike) or "none"
    return (
        text + f"Not distinguished from it: {results}. The other {len(worse)} have a worse rank and are distinguished."
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def _everyone(results: dict[str, Any]) -> str:
    """The best rank first."""
    found, by_balance = ranking(results), ranking(results, measure="balanced")
    share = np.array(results["share"], dtype=float)
    rows = []
    for j in found.order:
        margins = share[:, j][~np.isnan(share[:, j])]
        separated = f"{int(np.sum(margins > 0))} of {len(margins)}" if len(margins) else ""
        reached = f"{100 * np.mean(margins[margins > 0]):.0f}%" if np.any(margins > 0) else ""
        rows.append(
            [
                found.names[j],
                f"{found.ranks[j]:.1f}",
                f"{100 * np.mean(np.array(results['accuracy'])[:, j]):.1f}%",
                f"{100 * np.mean(np.array(results['balanced'])[:, j]):.1f}%",
                f"{by_balance.ranks[j]:.1f}",
                f"{np.median(np.array(results['milliseconds'])[:, j]):.1f}",
                f"{100 * np.mean(np.array(results['ended'])[:, j]):.0f}%",
                separated,
                reached,
            ]
        )
    head = [
        "classifier",
        "rank",
        "accuracy",
        "balanced",
        "rank, balanced",
        "ms",
        "ended",
        "separates",
        "share of the margin",
    ]
    return _table(head, rows)


def _kinds(results: dict[str, Any]) -> str:
    names = [*results["short_list"], "KernelMaxMargin"]
    columns = [results["names"].index(name) for name in names]
    accuracy, rows = np.array(results["accuracy"]), []
    for kind, belongs in KINDS.items():
        places = [k for k, about in enumerate(results["sets"]) if belongs(about)]
        if places:
            means = 100 * accuracy[places][:, columns].mean(axis=0)
            rows.append([kind, str(len(places)), *(f"{value:.1f}" for value in means)])
    return _table(["kind of data", "sets", *names], rows)


def _special(results: dict[str, Any]) -> str:
    columns = [results["names"].index(name) for name in COMPARED]
    rows = []
    for row, about in enumerate(results["sets"]):
        measure = SPECIAL.get(about["name"])
        if measure:
            values = 100 * np.array(results[measure])[row, columns]
            rows.append([f"{about['name']}, {measure}", *(f"{value:.1f}" for value in values)])
    return _table(["data set", *COMPARED], rows)


def _sets(results: dict[str, Any]) -> str:
    accuracy, rows = np.array(results["accuracy"]), []
    linear = [j for j, name in enumerate(results["names"]) if not name.startswith(("Kernel", "Piecewise"))]
    for about, row in zip(results["sets"], accuracy, strict=True):
        best = max(row[linear])
        first = [results["names"][j] for j in linear if row[j] == best]
        margin = f"{about['lower']:.3g}" if "lower" in about else ""
        rows.append(
            [
                about["name"],
                about["kind"],
                f"{about['n']} x {about['d']}",
                str(about["classes"]),
                f"{100 * about['rarest']:.0f}%",
                f"{about['separable']} of {about['problems']}",
                margin,
                f"{100 * best:.1f}% ({first[0] if len(first) == 1 else f'{len(first)} alike'})",
                f"{100 * np.median(row[linear]):.1f}%",
                f"{100 * row[results['names'].index('KernelMaxMargin')]:.1f}%",
            ]
        )
    head = [
        "data set",
        "kind",
        "size",
        "classes",
        "rarest",
        "separable",
        "margin",
        "best linear",
        "median linear",
        "KernelMaxMargin",
    ]
    return _table(head, rows)
