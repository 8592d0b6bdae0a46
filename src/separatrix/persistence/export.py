"""Models for other programs: one file with the preprocessing inside, as ONNX, C or JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import separatrix
from separatrix.errors import ModelError
from separatrix.persistence.c_source import to_c
from separatrix.persistence.onnx_graph import require_onnx, to_onnx
from separatrix.persistence.output import write_atomically
from separatrix.persistence.portable import Numbers, Portable, Texts, portable

JSON_FORMAT = 1


def export(model: Any, path: str | Path) -> None:
    """Export a classifier for use without separatrix, as one file with its preprocessing inside.

    The classifier may be linear, of separatrix or of scikit-learn, or for ONNX one with a kernel. Before it in a
    Pipeline there may be SimpleImputer, StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, and first of all a
    ColumnTransformer of these and OneHotEncoder.

    Parameters
    ----------
    model : estimator
        A fitted classifier, alone or at the end of a Pipeline.
    path : str or Path
        A name that ends with ``.onnx`` (needs ``pip install '.[onnx]'``), ``.c`` (C99, no libraries) or ``.json``.

    See Also
    --------
    save : Keep a model with its certificates, for `load`.

    Examples
    --------
    >>> import os, tempfile
    >>> from separatrix import MaxMargin, export
    >>> model = MaxMargin().fit([[0.0], [1.0], [3.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.c")
    ...     export(model, path)
    ...     os.path.getsize(path) < 5000
    True
    """
    write_atomically(path, check_export(path)(portable(model)))


def check_export(path: str | Path) -> Callable[[Portable], bytes]:
    """Return what makes a file with this ending, or raise before the work."""
    writers: dict[str, Callable[[Portable], bytes]] = {
        ".onnx": lambda model: to_onnx(model).SerializeToString(),
        ".c": lambda model: to_c(model).encode(),
        ".json": lambda model: to_json(model).encode(),
    }
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise ModelError(f"Unsupported export format {ending!r} ({path}). Use .onnx, .c or .json.")
    if ending == ".onnx":
        require_onnx()
    return writers[ending]


def to_json(model: Portable) -> str:
    """Return the JSON document that docs/reference/exports.md describes."""
    decision = model.decision
    if decision.kernel is not None:
        raise ModelError("A model with a kernel cannot be exported to JSON; ONNX can hold it.")
    content = {
        "format": "separatrix classifier",
        "version": JSON_FORMAT,
        "separatrix": separatrix.__version__,
        **preprocessing(model),
        "classes": decision.classes.tolist(),
        "weights": decision.coef.tolist(),
        "intercepts": decision.intercept.tolist(),
        "decision": "largest" if decision.rule == "largest" else "votes" if decision.ties else "votes, first of equals",
    }
    return json.dumps(content, allow_nan=False, indent=1) + "\n"


def preprocessing(model: Portable) -> dict[str, Any]:
    """Return columns, parts and steps as JSON values."""
    parts: list[dict[str, Any]] = []
    for part in model.parts:
        if isinstance(part, Texts):
            parts.append(part._asdict())
        else:
            parts.append({"columns": part.columns, "steps": [[name, v.tolist()] for name, v in part.steps]})
    kinds = dict.fromkeys(model.columns_of(Numbers), "number") | dict.fromkeys(model.columns_of(Texts), "text")
    columns = [{"name": name, "kind": kinds.get(c, "unused")} for c, name in enumerate(model.names)]
    return {"columns": columns, "parts": parts, "steps": [[name, values.tolist()] for name, values in model.steps]}
