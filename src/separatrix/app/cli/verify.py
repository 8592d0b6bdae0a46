"""``separatrix verify``: the proof again, from the data alone."""

from typing import Any

import typer

from separatrix.app.cli import options, terminal

HOLDS, FAILS = 0, 1


def verify(
    model: options.Model,
    data: options.Data,
    target: options.Target = None,
    format: options.Format = None,
    header: options.Header = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
    not_missing: options.NotMissing = None,
    sheet: options.Sheet = None,
    independent: options.Independent = False,
    json: options.Json = False,
) -> None:
    """Check the certificate of a model against the data.

    Every claim is decided in exact arithmetic: that the vector that predicts reaches the margin, a.y >= lower |a| for
    all rows; that no other exceeds the bound, |sum alpha_k y_k| <= upper sum alpha_k; and separability. Claims about
    kernels are checked in floating point, and it says so.

    Exit status: 0 it holds, 1 it does not, 3 error.

    Example: separatrix verify iris.sx iris.csv
    """
    from separatrix.app.report.summary import claims_in_words, described
    from separatrix.app.workflows.own_claims import problem_names
    from separatrix.app.workflows.verifying import verify as run

    found = run(
        model,
        data,
        independent,
        **options.reading(
            target, format, header, separator, encoding, missing=missing, not_missing=not_missing, sheet=sheet
        ),
    )
    if json:
        terminal.print_json(
            {
                "holds": found.holds,
                "same_data": found.same_data,
                "differing_rows": found.differing,
                "left_out": found.left_out,
                "notes": found.notes,
                "claims": {
                    name: {"holds": bool(v), "checked": v.checked, "failed": v.failed, "not_checkable": v.unchecked}
                    | ({"notes": v.notes} if v.notes else {})
                    for name, v in found.claims.items()
                },
            }
        )
    else:
        rows = [("data", f"{found.table.source}: {_identity(found)}")]
        if found.left_out:
            rows.append(
                ("rows left out", f"{found.left_out:,} of {found.table.n:,}: the certificate gives them no weight")
            )
        rows.insert(0, ("model", f"{model}: {described(found.separator)}"))
        own = dict(zip(problem_names(found.separator), found.separator.certificates_, strict=True))
        for name, checked in found.claims.items():
            certificate = own.get(name.removesuffix(", by what predicts"))
            rows.append((name, str(checked) if certificate is None else claims_in_words(certificate, checked)))
        rows += [("note", note) for note in found.notes]
        rows.append(("verdict", _verdict(found)))
        terminal.print_rows(terminal.console(), None, rows)
    raise typer.Exit(HOLDS if found.holds else FAILS)


def _verdict(found: Any) -> str:
    if found.holds:
        return "the certificate holds"
    failed = "the certificate does NOT hold on these data"
    if found.same_data or found.differing is None or found.fitted_rows is None:
        return failed
    return (
        f"{failed}: it is about the {found.fitted_rows:,} rows of the fit. Verify the model with that file; to see how "
        "it predicts these rows, use `separatrix predict --score`"
    )


def _identity(found: Any) -> str:
    """Whether this is the table of the fit, and how many rows differ."""
    n, fitted = found.table.n, found.fitted_rows
    if found.same_data:
        return "the data that the model was fitted on"
    if found.reordered:
        return "the rows that the model was fitted on in another order; certificates number them, so restore it"
    if found.differing == 0 and n == fitted:
        return "another file with the rows that the model was fitted on"
    rows = "" if n == fitted or fitted is None else f"{n:,} rows instead of {fitted:,}"
    differ = "" if found.differing is None else f"{found.differing:,} of {n:,} rows differ"
    parts = ", ".join(part for part in (rows, differ) if part)
    return "this is not the table the model was fitted on" + (f": {parts}" if parts else "")
