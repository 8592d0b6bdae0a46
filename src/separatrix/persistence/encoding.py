"""Estimators as a tree of JSON values and a table of arrays, and back, without pickle.

An object is written as the name of its class and its attributes. Reading makes objects of classes that are known to
be harmless, or that the caller trusts, and of nothing else: no function is ever looked up or called on behalf of a
file. JSON objects stand for values that JSON has no word for, with their kind under the key ``!``.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.device import is_array, to_numpy
from separatrix.errors import ModelError
from separatrix.persistence.foreign import FOREIGN, allowed, complete, function_name, function_of, is_foreign, state_of
from separatrix.persistence.former import updated
from separatrix.persistence.limits import check_unpacked
from separatrix.persistence.names import class_of, stable_name
from separatrix.persistence.shapes import check_separator, check_transformer

OURS = "separatrix."
TRANSIENT = {"_skl_callbacks", "memory"}  # live objects, and a folder that scikit-learn would unpickle from
NUMERIC = "biuf"
MERSENNE = 624  # words of the state of a Mersenne twister


def encode(value: Any, arrays: dict[str, np.ndarray], where: str = "model") -> Any:
    """The tree of a value; its arrays are put into ``arrays``. ``where`` names the place, for messages."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and not isinstance(value, np.generic):
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if math.isfinite(value) else {"!": "float", "value": repr(value)}
    if isinstance(value, np.generic):
        return {"!": "scalar", "value": encode(np.array([value]), arrays, where)}
    if isinstance(value, np.ma.MaskedArray):
        parts = {"data": value.data, "mask": np.ma.getmaskarray(value)}
        return {"!": "masked", **{k: encode(np.asarray(v), arrays, where) for k, v in parts.items()}}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where)
    if is_array(value):  # a model of a device is the same file as one of memory
        return _encode_array(to_numpy(value), arrays, where)
    if isinstance(value, np.dtype):
        return {"!": "dtype", "name": value.str}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"!": "number type", "name": value.__name__}
    if isinstance(value, slice):
        ends = [value.start, value.stop, value.step]
        return {"!": "slice", "items": [encode(x, arrays, where) for x in ends]}
    if sp.issparse(value):
        matrix = value.tocsr()
        parts = {k: encode(getattr(matrix, k), arrays, where) for k in ("data", "indices", "indptr")}
        return {"!": "csr", "shape": list(matrix.shape), "array": isinstance(value, sp.sparray), **parts}
    if isinstance(value, np.random.RandomState):
        return {"!": "random state", "state": encode(value.get_state(legacy=True), arrays, where)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _encode_object(value, dict(zip(value._fields, value, strict=True)), arrays, where)
    if isinstance(value, (list, tuple)):
        items = [encode(x, arrays, f"{where}[{i}]") for i, x in enumerate(value)]
        return items if isinstance(value, list) else {"!": "tuple", "items": items}
    if isinstance(value, dict) and type(value).__name__ in ("dict", "Bunch", "OrderedDict"):
        pairs = [[encode(k, arrays, where), encode(v, arrays, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"!": "dict", "items": pairs}
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
        return _encode_object(value, {f.name: getattr(value, f.name) for f in fields(value)}, arrays, where)
    if (hasattr(value, "get_params") or is_foreign(type(value))) and not isinstance(value, type):
        left_out = TRANSIENT.union(getattr(value, "_not_saved", ()))
        state = {k: v for k, v in state_of(value).items() if k not in left_out}
        return _encode_object(value, state, arrays, where)
    if callable(value) and (name := function_name(value)) is not None:
        return {"!": "function", "name": name}
    raise ModelError(
        f"{where} is a {type(value).__name__} ({value!r:.60}), which cannot be saved without pickle. Use numbers, "
        "names and arrays for the parameters."
    )


def _encode_object(value: Any, state: dict[str, Any], arrays: dict[str, np.ndarray], where: str) -> Any:
    cls = type(value)
    name = stable_name(cls) if cls.__module__.startswith(OURS) else f"{cls.__module__}.{cls.__qualname__}"
    if name is None:
        raise ModelError(f"{where} is a {cls.__qualname__}, which is not among what a model file may hold.")
    if "<locals>" in name or cls.__module__ == "__main__":
        raise ModelError(f"{where} is a {cls.__qualname__}, whose class is not at the top of a module of its own.")
    if cls.__module__.startswith("sklearn.") and not is_foreign(cls):
        raise ModelError(
            f"{where} is scikit-learn's {cls.__name__}, which is not among what a model file may hold. {allowed()}"
        )
    return {"!": "object", "class": name, "fields": {k: encode(v, arrays, f"{where}.{k}") for k, v in state.items()}}


def _encode_array(value: np.ndarray, arrays: dict[str, np.ndarray], where: str) -> Any:
    if value.dtype.kind in NUMERIC and value.dtype.itemsize <= 8:
        name = f"{len(arrays)}"
        turned = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        plain = np.array(value.T if turned else value, order="C")
        arrays[name] = plain.astype(plain.dtype.newbyteorder("="), copy=False)
        # The order in memory is kept: sums over rows come out to the last bit as before.
        return {"!": "array", "name": name, "turned": True} if turned else {"!": "array", "name": name}
    if value.dtype.kind in "UO":
        items = [encode(x, arrays, f"{where}[{i}]") for i, x in enumerate(value.ravel().tolist())]
        return {"!": "text", "kind": value.dtype.kind, "shape": list(value.shape), "items": items}
    raise ModelError(f"{where} is an array of the type {value.dtype}, which cannot be saved.")


class Decoder:
    """Makes values of trees; anything unexpected is a `ModelError`."""

    def __init__(self, arrays: dict[str, np.ndarray], trusted: Iterable[type] = ()):
        self.arrays = arrays
        self.unpacked = 0  # bytes of arrays of text: each is as wide as its longest one
        self.trusted = {f"{cls.__module__}.{cls.__qualname__}": cls for cls in trusted}
        self.kinds: dict[str, Callable[[dict[str, Any]], Any]] = {
            "float": lambda t: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[t["value"]],
            "scalar": lambda t: self._decode_of(t["value"], np.ndarray)[0],
            "array": lambda t: self.arrays[_of(t["name"], str)].T if "turned" in t else self.arrays[t["name"]],
            "masked": self._masked,
            "text": self._text,
            "function": lambda t: _known(function_of(_of(t["name"], str)), t["name"]),
            "dtype": lambda t: _plain_dtype(np.dtype(_of(t["name"], str))),
            "number type": lambda t: _plain_dtype(np.dtype(_of(t["name"], str))).type,
            "slice": lambda t: slice(*map(self.decode, _of(t["items"], list))),
            "csr": self._csr,
            "random state": self._random_state,
            "tuple": lambda t: tuple(map(self.decode, _of(t["items"], list))),
            "dict": lambda t: {self.decode(k): self.decode(v) for k, v in _of(t["items"], list)},
            "object": self._object,
        }

    def decode(self, tree: Any) -> Any:
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if isinstance(tree, list):
            return [self.decode(x) for x in tree]
        return self.kinds[tree["!"]](tree)

    def _decode_of(self, tree: Any, kind: type) -> Any:
        return _of(self.decode(tree), kind)

    def _masked(self, tree: dict[str, Any]) -> np.ma.MaskedArray:
        data, mask = (self._decode_of(tree[k], np.ndarray) for k in ("data", "mask"))
        if mask.dtype != np.bool_ or mask.shape != data.shape:
            raise ModelError("Invalid masked array: the mask has another shape.")
        return np.ma.MaskedArray(data, mask)

    def _text(self, tree: dict[str, Any]) -> np.ndarray:
        shape = tuple(_of(n, int) for n in _of(tree["shape"], list))
        items = [self.decode(x) for x in _of(tree["items"], list)]
        if tree["kind"] == "U":
            lengths = [len(_of(x, str)) for x in items]
            self.unpacked += 4 * len(items) * max(lengths, default=0)
            check_unpacked("An array of text", self.unpacked, sum(lengths))
            return np.array(items, dtype=np.str_).reshape(shape)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _csr(self, tree: dict[str, Any]) -> Any:
        parts = [self._decode_of(tree[k], np.ndarray) for k in ("data", "indices", "indptr")]
        if parts[0].dtype.kind not in NUMERIC or any(part.dtype.kind not in "iu" for part in parts[1:]):
            raise ModelError("Invalid sparse matrix: its values are missing.")
        shape = tuple(_of(n, int) for n in tree["shape"])
        matrix = (sp.csr_array if tree["array"] else sp.csr_matrix)(tuple(parts), shape=shape)
        matrix.check_format(full_check=True)  # numba and scipy check no bounds
        return matrix

    def _random_state(self, tree: dict[str, Any]) -> np.random.RandomState:
        state = np.random.RandomState(0)
        content = self._decode_of(tree["state"], tuple)
        if not 0 <= _of(content[2], int) <= MERSENNE:  # numpy reads its table there
            raise ModelError("Invalid RandomState in the model file.")
        state.set_state(content)
        return state

    def _object(self, tree: dict[str, Any]) -> Any:
        cls: Any = self._class(_of(tree["class"], str))
        state = {_of(k, str): self.decode(v) for k, v in _of(tree["fields"], dict).items()}
        if issubclass(cls, tuple):
            return cls(**updated(state, list(cls._fields)))
        plain = is_foreign(cls) and not hasattr(cls, "_get_param_names")  # as splitters of a search are
        names = [] if plain else cls._get_param_names() if hasattr(cls, "_get_param_names") else _fields(cls)
        state = updated(state, names)
        if is_dataclass(cls):  # what an older version did not have yet is what it was then
            state = {**{f.name: f.default for f in fields(cls) if f.default is not MISSING}, **state}
        missing = set(names) - set(state) - TRANSIENT
        if missing:
            raise ModelError(f"A {cls.__name__} without {', '.join(sorted(missing))}.")
        if hasattr(cls, "_get_param_names") or plain:
            hidden = [k for k in state if callable(getattr(cls, k, None)) or k.startswith("__")]
            if hidden:
                raise ModelError(f"A {cls.__name__} whose method {hidden[0]} would be replaced.")
            if "memory" in names:
                state["memory"] = None
        elif set(state) != set(names):
            raise ModelError(f"A {cls.__name__} with the fields {', '.join(sorted(state))}.")
        made = cls.__new__(cls)
        made.__dict__.update(state)
        if type(made).__module__.startswith(OURS):
            check_separator(made)
        elif is_foreign(cls):
            check_transformer(made)
            complete(made)
        return made

    def _class(self, name: str) -> type:
        """A class by its name, if it is a harmless one: data alone decide what it does."""
        module, _, short = name.rpartition(".")
        if name in self.trusted:
            return self.trusted[name]
        if name.startswith(OURS):
            ours = class_of(name)
            if ours is None or not _holds_data(ours):
                raise ModelError(f"It holds a {name}, which this version does not have.")
            return ours
        if short not in FOREIGN.get(module, []):
            raise ModelError(
                f"It holds an object of the class {name}, which is not among those that a model file may hold. If "
                "it is yours and you trust the file, use load(path, trusted=[the class])."
            )
        try:
            cls = getattr(import_module(module), short)
        except (ImportError, AttributeError) as error:
            raise ModelError(f"It holds a {name}, which this version does not have.") from error
        if not (_holds_data(cls) or is_foreign(cls)) or cls.__module__ != module:
            raise ModelError(f"It holds a {name}, which is not a class of data.")
        return cls


def _holds_data(cls: Any) -> bool:
    return isinstance(cls, type) and (
        hasattr(cls, "get_params") or is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def _fields(cls: Any) -> list[str]:
    return [f.name for f in fields(cls)]


def _known(value: Any, name: str) -> Any:
    if value is None:
        raise ModelError(f"It refers to the function {name!r:.60}, which is not among those that a model may use.")
    return value


def _of(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ModelError(f"Expected a {kind.__name__}, found {value!r:.60}.")
    return value


def _plain_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind not in "biufUO":
        raise ModelError(f"It holds the type {dtype}, which no model has.")
    return dtype
