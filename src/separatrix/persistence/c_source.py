"""C: a classifier as one C99 file without dependencies, with its preprocessing inside."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

import separatrix
from separatrix.errors import ModelError
from separatrix.persistence.portable import ALL_ZERO, Numbers, Portable, Step, Texts

REFUSED, NO_FEATURE = -2, -1  # codes of a text
PLAIN = re.compile(rb"[A-Za-z0-9 _.,:;+()<>=/-]")  # no quotes, backslashes, "?" of trigraphs, "*" of comments
STEPS = {
    "fill": "if (x != x) x = {}[i];",
    "subtract": "x -= {}[i];",
    "divide": "x /= {}[i];",
    "multiply": "x *= {}[i];",
    "add": "x += {}[i];",
}

SIGNATURE = "int separatrix_predict(const double *numbers, const char *const *texts, double *scores)"
HEAD = """\
/* A classifier, exported by separatrix {version}. C99, no library but the standard one.

   int separatrix_predict(const double *numbers, const char *const *texts, double *scores);

   numbers: {n_numbers} values in the order of separatrix_number_columns; a missing value is NAN.
   texts:   {n_texts} strings in UTF-8 in the order of separatrix_text_columns; a missing value is NULL.
   scores:  NULL, or room for {n_scores}: the score of {scored}.
   Returns the index of the class in separatrix_classes, or -1 if the model refuses the row: a missing value that it
   does not fill in, a text that it does not know and may not ignore, or a number that is not finite.

   To link two models into one program, rename the symbols of one: cc -Dseparatrix_predict=other_predict ... */

#include <stddef.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "Compile without -ffast-math: missing values are NAN."
#endif

"""

LOOKUP = """\
/* The code of a text among known ones in the order of their bytes. */
static int code_of(const char *text, const char *const *known, const int *codes, int count, int missing, int unknown) {
    int low = 0, high = count;
    if (text == NULL) return missing;
    while (low < high) {
        int middle = low + (high - low) / 2, order = strcmp(text, known[middle]);
        if (order == 0) return codes[middle];
        if (order < 0) high = middle; else low = middle + 1;
    }
    return unknown;
}

"""

LARGEST = """\
    for (int k = 1; k < CLASSES; k++)
        if (sums[k] > sums[best]) best = k;
"""
TWO = "    best = sums[0] > 0;\n"
VOTES = """\
    double votes[CLASSES] = {0}, totals[CLASSES] = {0};
    for (int i = 0, p = 0; i < CLASSES; i++)
        for (int j = i + 1; j < CLASSES; j++, p++) {
            votes[sums[p] > 0 ? j : i] += 1;
            totals[j] += sums[p];
            totals[i] -= sums[p];
        }
    for (int k = 0; k < CLASSES; k++)
        totals[k] = votes[k] + totals[k] / (3.0 * ((totals[k] < 0 ? -totals[k] : totals[k]) + 1.0));
    for (int k = 1; k < CLASSES; k++)
        if (WINNER[k] > WINNER[best]) best = k;
"""


def to_c(model: Portable) -> str:
    """Return the source text. Names and labels are data: only escaped strings of it hold them."""
    decision = model.decision
    if decision.kernel is not None:
        raise ModelError("A model with a kernel cannot be exported to C; ONNX can hold it.")
    columns = {kind: [model.names[c] for c in model.columns_of(kind)] for kind in (Numbers, Texts)}
    votes, two = decision.rule == "votes", len(decision.classes) == 2
    head = HEAD.format(
        version=separatrix.__version__,
        n_numbers=len(columns[Numbers]),
        n_texts=len(columns[Texts]),
        n_scores="one value" if two else f"{len(decision.classes)} values",
        scored="the second class, positive if it is predicted" if two else "each class",
    )
    weights = [f"    {{{_row(line)}}}" for line in decision.coef.T]  # a line for each feature
    sizes = {"FEATURES": model.width, "VECTORS": len(decision.coef), "CLASSES": len(decision.classes)}
    tables = [f"enum {{ {', '.join(f'{name} = {size}' for name, size in sizes.items())} }};\n"]
    tables.append(_strings("separatrix_classes", decision.classes.tolist(), ""))
    tables.append(_strings("separatrix_number_columns", columns[Numbers], ""))
    tables.append(_strings("separatrix_text_columns", columns[Texts], ""))
    tables.append("static const double weights[FEATURES][VECTORS] = {\n" + ",\n".join(weights) + "\n};\n")
    tables.append(_doubles("intercepts", decision.intercept))
    body, first = [], 0
    last = "".join(f"    {line}\n" for line in _steps("last", model.steps, tables))
    for number, part in enumerate(model.parts):
        name, places = f"part{number}", model.columns_of(type(part))
        if isinstance(part, Texts):
            body.append(_texts(name, part, places, first, tables))
        else:
            body.append(_numbers(name, part, places, first, tables))
        first += part.width
    winner = VOTES.replace("WINNER", "totals" if decision.ties else "votes") if votes else TWO if two else LARGEST
    return (
        head
        + "".join(tables)
        + f"""
static void add(double *sums, double x, int i) {{
{last}    for (int v = 0; v < VECTORS; v++) sums[v] += weights[i][v] * x;
}}

{LOOKUP if columns[Texts] else ""}{SIGNATURE} {{
    double sums[VECTORS] = {{0}};
    int best = 0;
    (void)numbers;
    (void)texts;
{"".join(body)}    for (int v = 0; v < VECTORS; v++) {{
        sums[v] += intercepts[v];
        if (!(sums[v] - sums[v] == 0)) return -1;
    }}
{winner}    if (scores != NULL)
        for (int k = 0; k < {1 if two else "CLASSES"}; k++) scores[k] = {"totals" if votes else "sums"}[k];
    return best;
}}
"""
    )


def _numbers(name: str, part: Numbers, places: list[int], first: int, tables: list[str]) -> str:
    index = [places.index(column) for column in part.columns]
    tables.append(_table(f"static const int {name}_columns[]", [str(i) for i in index]))
    steps = "".join(f"        {line}\n" for line in _steps(name, part.steps, tables))
    return f"""\
    for (int i = 0; i < {part.width}; i++) {{
        double x = numbers[{name}_columns[i]];
{steps}        add(sums, x, {first} + i);
    }}
"""


def _texts(name: str, part: Texts, places: list[int], first: int, tables: list[str]) -> str:
    known = sorted(part.codes, key=_utf8)
    tables.append(_strings(f"{name}_known", known, "static "))
    tables.append(_table(f"static const int {name}_codes[]", [str(part.codes[text]) for text in known] or ["0"]))
    number = {None: REFUSED, ALL_ZERO: NO_FEATURE}
    missing, unknown = (number.get(code, code) for code in (part.missing, part.unknown))
    place = places.index(part.column)
    return f"""\
    {{
        int code = code_of(texts[{place}], {name}_known, {name}_codes, {len(known)}, {missing}, {unknown});
        if (code == {REFUSED}) return -1;
        for (int i = 0; i < {part.width}; i++) add(sums, i == code ? 1.0 : 0.0, {first} + i);
    }}
"""


def _steps(name: str, steps: list[Step], tables: list[str]) -> list[str]:
    """The lines for these steps, whose values become tables."""
    lines = []
    for number, (kind, values) in enumerate(steps):
        table = f"{name}_{kind}{number}"
        tables.append(_doubles(table, values))
        lines.append(STEPS[kind].format(table))
    return lines


def _doubles(name: str, values: np.ndarray) -> str:
    return _table(f"static const double {name}[]", [repr(float(v)) for v in values])


def _row(values: np.ndarray) -> str:
    return ", ".join(repr(float(v)) for v in values)


def _strings(name: str, values: Iterable[Any], scope: str) -> str:
    return _table(f"{scope}const char *const {name}[]", [*(_literal(str(v)) for v in values), "NULL"])


def _table(declaration: str, cells: list[str]) -> str:
    return f"{declaration} = {{{', '.join(cells)}}};\n"


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ModelError(f"UTF-8 cannot encode {text[:40]!a}. Use other labels or names of columns.") from error


def _literal(text: str) -> str:
    """A string of C; what is not plain becomes an octal escape of three digits, which ends by itself."""
    if "\0" in text:
        raise ModelError(f"{text[:40]!a} has a NUL, at which strings of C end. Export to .onnx or .json instead.")
    return '"' + "".join(chr(b) if PLAIN.match(bytes([b])) else f"\\{b:03o}" for b in _utf8(text)) + '"'
