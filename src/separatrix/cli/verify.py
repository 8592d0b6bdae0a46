"""``separatrix verify``: the proof again, from the data alone."""

import typer

from separatrix.cli import options

HOLDS, FAILS = 0, 1


def verify(
    model: options.Model,
    data: options.MaybeData = None,
    target: options.Target = None,
    format: options.Format = None,
    header: options.Header = None,
    separator: options.Separator = None,
    independent: options.Independent = False,
    json: options.Json = False,
) -> None:
    """Prove the certificate of a model again, from the data alone.

    Every claim is decided in exact arithmetic: that the vector that predicts reaches the margin, a.y >= lower |a| for
    all rows; that no other exceeds the bound, |sum alpha_k y_k| <= upper sum alpha_k; and separability. Claims about
    kernels are checked in floating point, and it says so.

    Exit status: 0 it holds, 1 it does not, 3 error.

    Example: separatrix verify iris.sx iris.csv
    """
    import numpy as np

    from separatrix.errors import DataError
    from separatrix.io.model.apply import prepared, separator_of
    from separatrix.report.proof_words import known_labels, label_words, verified

    file = options.read_separator(model, certified=True)
    table = options.read_for(file, data, target, format, header, separator)
    if table.y is None:
        raise DataError(f"{table.source} has no column {table.target!r} with the labels: name it with --target.")
    claimed = separator_of(file.model)
    words, known = label_words(table.y), label_words(claimed.classes_)
    unknown = np.setdiff1d(words, known)
    if len(unknown):
        raise DataError(f"{table.source} has rows of the class {unknown[0]}, which the model does not know.")
    absent = np.setdiff1d(known, words)
    if len(absent):
        raise DataError(f"{table.source} has no rows of the class {absent[0]}: the certificate is about all classes.")
    found = verified(claimed, prepared(file.model, table.X), known_labels(claimed.classes_, table.y), independent)
    same = (file.provenance.get("data") or {}).get("sha256") == table.digest
    holds = bool(found) and all(bool(v) for v in found.values())
    if json:
        options.print_json(
            {
                "holds": holds,
                "same_data": same,
                "claims": {
                    name: {"holds": bool(v), "checked": v.checked, "failed": v.failed, "not_checkable": v.unchecked}
                    | ({"notes": v.notes} if v.notes else {})
                    for name, v in found.items()
                },
            }
        )
    else:
        from separatrix.report.wording import print_rows

        identity = "the data that the model was fitted on" if same else "other data than the model was fitted on"
        rows = [("data", f"{table.source}: {identity}")]
        rows += [(name, str(v)) for name, v in found.items()]
        rows.append(("verdict", "the certificate holds" if holds else "the certificate does NOT hold on these data"))
        print_rows(options.console(), None, rows)
    raise typer.Exit(HOLDS if holds else FAILS)
