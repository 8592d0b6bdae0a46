"""Models in one file, without pickle: a JSON document and arrays in the safetensors format.

The file is a safetensors file, whose metadata hold the document (see `separatrix.persistence.encoding`), the version of
this format, and a digest of document and arrays, so that damage is seen before anything is made of it.
"""

import datetime
import hashlib
import json
import platform
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from separatrix.errors import DataError, ModelError
from separatrix.persistence.encoding import Decoder, encode
from separatrix.persistence.output import write_atomically

FORMAT = 3  # 1: release 0.1.0, with the modules of classes instead of stable names; 2: names before 0.2
MAGIC = "separatrix"


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file.

    Attributes
    ----------
    model : estimator
        The fitted model.
    provenance : dict
        Date, versions, data file and target of the fit.
    """

    model: Any
    provenance: dict[str, Any] = field(default_factory=dict)


def save(model: Any, path: str | Path, provenance: dict[str, Any] | None = None) -> None:
    """Save a fitted estimator, or a Pipeline that ends with one, in one file without pickle.

    Everything is kept: parameters, preprocessing, fitted attributes, certificates, and the state from which
    ``warm_start`` goes on. The file is written beside its place and moved there when it is complete.

    Parameters
    ----------
    model : estimator
        A fitted classifier of separatrix, alone or within scikit-learn's Pipeline, OneVsOneClassifier and the like.
    path : str or Path
        The file; ``.sx`` is the usual ending.
    provenance : dict or None, default=None
        What else the file should tell, as JSON values; versions and the time are added.

    Examples
    --------
    >>> import os, tempfile
    >>> from separatrix import MaxMargin, load, save
    >>> model = MaxMargin().fit([[0.0], [1.0], [3.0]], ["low", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.sx")
    ...     save(model, path)
    ...     again = load(path)
    >>> again.predict([[0.2], [2.9]]).tolist(), again.certificate_.lower == model.certificate_.lower
    (['low', 'high'], True)
    """
    from safetensors.numpy import save as pack

    _check_fitted(model)
    arrays: dict[str, np.ndarray] = {}
    document = json.dumps(
        {"model": encode(model, arrays), "provenance": {**_versions(), **(provenance or {})}},
        ensure_ascii=False,
        allow_nan=False,
    )
    try:
        document.encode()
    except UnicodeEncodeError as error:
        text = document[max(error.start - 20, 0) : error.end + 20]
        raise ModelError(
            f"The model holds text that UTF-8 cannot encode: {text!a}. Use other labels or names of columns."
        ) from error
    metadata = {
        "format": MAGIC,
        "format_version": str(FORMAT),
        "document": document,
        "digest": _digest(document, arrays),
    }
    write_atomically(path, pack(arrays, metadata))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ModelError("A field occurs twice in the document.")
    return dict(pairs)


def _check_fitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    name = type(model).__name__
    if not hasattr(model, "predict"):
        raise ModelError(f"A {name} predicts nothing. Save a classifier, or the Pipeline that ends with one.")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelError(f"This {name} is not fitted: call fit before it is saved.") from error


def load(path: str | Path, trusted: Iterable[type] = ()) -> Any:
    """Load a model that `save` wrote. A damaged file is a `ModelError`, and nothing that a file holds is run.

    What compiled code reads to predict is checked: weights, scales, categories and sparse matrices have to fit the
    numbers of features. Beyond that a file that was made to harm may predict anything, raise any error, or ask for much
    memory. Fit on (``warm_start``, `partial_fit`) from files that you trust alone: the state of a fit is handed to
    compiled code as it is.

    Parameters
    ----------
    path : str or Path
    trusted : iterable of classes, default=()
        Classes of your own that the file may hold, such as the rule of a `PerceptronLike`.

    Returns
    -------
    estimator
    """
    return read_model(path, trusted).model


def read_model(path: str | Path, trusted: Iterable[type] = ()) -> ModelFile:
    """Like `load`, with the provenance."""
    metadata, arrays = _unpack(Path(path))
    if metadata.get("format") != MAGIC:
        raise ModelError(f"{path} is not a separatrix model.")
    version = metadata.get("format_version", "")
    if version.isascii() and version.isdigit() and int(version) > FORMAT:
        raise ModelError(
            f"{path} was written by a newer separatrix (format {int(version)}; this version reads up to {FORMAT}). "
            "Update your clone of the repository and install it again: pip install ."
        )
    document = metadata.get("document", "")
    if version not in ("1", "2", "3") or metadata.get("digest") != _digest(document, arrays):
        raise ModelError(f"{path} is damaged: its content does not have the digest that it was written with.")
    try:
        content = json.loads(document, object_pairs_hook=_once)
        provenance = content["provenance"]
        tables = [provenance, *(provenance.get(key) or {} for key in ("data", "versions"))]
        if not all(isinstance(part, dict) for part in tables):
            raise ModelError("Invalid provenance in the model file: expected a table.")
        model = Decoder(arrays, trusted).decode(content["model"])
        if not hasattr(model, "get_params"):
            raise ModelError("The file contains no estimator.")
    except (ModelError, DataError) as error:
        raise ModelError(f"{path} cannot be loaded. {error}") from error
    except Exception as error:  # whatever a malformed document leads to
        raise ModelError(f"{path} cannot be loaded: its document is malformed ({type(error).__name__}).") from error
    _compare_versions(path, provenance)
    return ModelFile(model, provenance)


def _unpack(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    from safetensors import SafetensorError, safe_open

    if path.is_dir():
        raise ModelError(f"{path} is a folder, not a model file.")
    if not path.exists():
        raise ModelError(f"There is no file {path}.")
    try:
        with safe_open(str(path), framework="np") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != MAGIC:
                return metadata, {}
            # Names are taken as they are: the document asks for those that it knows.
            return metadata, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{path} is not a separatrix model, or the file is damaged ({error}).") from error


def _digest(document: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(document.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _versions() -> dict[str, Any]:
    import scipy
    import sklearn

    import separatrix

    return {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {
            "separatrix": separatrix.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
    }


def _compare_versions(path: str | Path, provenance: dict[str, Any]) -> None:
    import sklearn

    then = (provenance.get("versions") or {}).get("scikit-learn")
    if isinstance(then, str) and then.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warnings.warn(
            f"{path} was written with scikit-learn {then}, this is {sklearn.__version__}: its preprocessing may behave "
            "differently. Compare predictions, or fit again.",
            UserWarning,
            stacklevel=4,
        )


def classifier_of(model: Any) -> Any:
    """The classifier at the end of a Pipeline, or the model itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model
