"""``separatrix fit`` on rows that do not fit into memory."""

from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.app.cli import terminal
from separatrix.app.cli.exit_status import INTERRUPTED

Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Read DATA block by block within so much memory, as 1GB; DATA may be a pattern."),
]
Cache = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Keep a decoded copy of DATA there, for later passes (--memory).")
]
Checkpoint = Annotated[
    str | None, typer.Option(metavar="FILE", help="Keep the passes there; the same command goes on after a kill.")
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Let the workers of this scheduler read DATA, as tcp://host:8786.")
]
Workers = Annotated[int | None, typer.Option(min=1, metavar="N", help="Let N processes of this machine read DATA.")]


def place_of(
    data: str | None,
    memory: str | None,
    cache: str | None,
    checkpoint: str | None,
    dask: str | None,
    workers: int | None,
) -> Any:
    """Where rows are read, None if DATA is one file that is read into memory."""
    asked = (memory, cache, checkpoint, dask, workers)
    if all(option is None for option in asked) and not (data and has_magic(data) and not Path(data).exists()):
        return None
    if data is None or data == "-":
        raise typer.BadParameter("--memory, --cache, --checkpoint, --dask and --workers need files as DATA.")
    if dask is not None and workers is not None:
        raise typer.BadParameter("--dask names a cluster that is there, --workers starts one: use one of them.")
    from separatrix.app.workflows.fitting_elsewhere import Place

    return Place(memory or "1GB", cache, checkpoint, dask, workers)


def run(
    data: str, target: str | None, asked: Any, place: Any, *, save: str | None, json: bool, refused: dict[str, Any]
) -> None:
    """``refused``: options that need rows in memory, with their values."""
    wrong = [name for name, value in refused.items() if value]
    if wrong:
        raise typer.BadParameter(f"--{wrong[0]} needs rows in memory, not rows that are read block by block.")
    from separatrix.app.cli.progress import Progress
    from separatrix.app.workflows.fitting_elsewhere import fit_elsewhere

    with Progress(quiet=json) as tell:
        found = fit_elsewhere(data, _target(target), asked, place, tell)
    told = as_dict(found)
    try:  # first: whoever reads the output may stop early, as `head` does
        if save:
            from separatrix.persistence.files import save as save_model

            save_model(found.model, save, {"data": told["data"], "separator": {"how": found.how}})
    finally:
        if json:
            terminal.print_json(told)
        else:
            head = f"{found.source} ({found.rows.n:,} rows, {found.rows.width} features)"
            terminal.print_rows(terminal.console(), head, _rows(found))
    if save:
        terminal.say(f"wrote {save}")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


def _target(target: str | None) -> Any:
    """A number may be the place of a column."""
    return int(target) if target is not None and target.lstrip("-").isdigit() else target


def _rows(found: Any) -> list[tuple[str, str]]:
    from separatrix.app.report.summary import counted, verdict

    n = found.rows.n
    rows = [("classes", ", ".join(str(c) for c in found.rows.classes.tolist()[:20]))]
    if found.interrupted:
        rows.insert(0, ("interrupted", "this is the best that was found so far"))
    if found.refuted is not None:
        count = len(found.refuted.alpha_index)
        rows.append(
            ("linearly separable", f"no: {counted(count, 'pattern')} with positive weights combine to exactly 0")
        )
    rows += [("model", found.how), ("certificate", str(found.separator.certificate_))]
    if found.errors is not None:
        rows.append(("rows on their side", f"{n - found.errors:,} of {n:,}"))
    if found.verification:
        rows.append(("certificate, recomputed from the files", verdict(found.verification)))
    rows.append(("work", f"{found.passes} passes over the files, {found.seconds:.1f} s"))
    return rows


def as_dict(found: Any) -> dict[str, Any]:
    from separatrix.app.report.summary import certificates_dict, number

    return {
        "data": {
            "source": found.source,
            "rows": int(found.rows.n),
            "features": int(found.rows.width),
            "target": found.target,
            "classes": [str(c) for c in found.rows.classes.tolist()],
        },
        "separator": {"name": type(found.separator).__name__, "how": found.how},
        "separable": False if found.refuted is not None else found.separator.certificate_.separable,
        "certificates": certificates_dict(found.separator),
        "geometric_margin": number(found.separator.geometric_margin_),
        "wrong_rows": found.errors,
        "verified": bool(found.verification) and all(bool(v) for v in found.verification.values()),
        "interrupted": found.interrupted,
        "converged": bool(found.separator.converged_),
        "passes": found.passes,
        "seconds": found.seconds,
    }
