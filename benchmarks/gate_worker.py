"""One version of the library at work for the gate, in a process of its own: python -P gate_worker.py FORMER_NAMES

Requests are lines of JSON on standard input, answers are lines of JSON on standard output. The file imports nothing of
the benchmarks and uses only public names of the library, so that every version can run it. `gate.toml` documents
FORMER_NAMES, a JSON object.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin

LONG = 2.0  # seconds of a first fit that is not repeated: what the process loads for it does not matter
LEAST, MOST, ENOUGH = 3, 20, 0.1  # repetitions of a shorter one, and the seconds after which they are enough
PARTS = ("data", "indices", "indptr")  # of a CSR matrix


class Names:
    """Current public names, translated into those of the installed version."""

    def __init__(self, former: dict[str, Any]):
        spec = importlib.util.find_spec(former["absent"])
        has_former = spec is None or spec.origin is None  # a folder without code is a package without origin
        self.modules = former["modules"] if has_former else {}
        self.parameters = former["parameters"] if has_former else {}
        self.values = former["values"] if has_former else {}
        self.functions = former.get("functions", {}) if has_former else {}

    def module(self, name: str) -> Any:
        return importlib.import_module(self.modules.get(name, name))

    def find(self, name: str) -> Any:
        """Return what ``separatrix.NAME`` is; a name may have a module in front, as in "dropin.SVC"."""
        module, _, last = f"separatrix.{name}".rpartition(".")
        return getattr(self.module(module), self.functions.get(last, last))

    def translated(self, made: Any, parameters: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
        """Return keyword arguments for ``made``. Optional ones are left out if it does not accept them, and so is
        ``until``, of which earlier versions have one value alone."""
        accepted, result = inspect.signature(made).parameters, {}
        for name, value in {**optional, **parameters}.items():
            own = name if name in accepted else self.parameters.get(name, name)
            if own in accepted or (name in parameters and name != "until"):
                result[own] = self.values.get(name, {}).get(value, value) if isinstance(value, str) else value
        return result


@lru_cache(1)
def load(folder: str) -> tuple[Any, Any, Any]:
    """Return X, y and the sample weights (or None) that `gate.save` wrote."""
    place = Path(folder)
    arrays = {file.stem: np.load(file) for file in place.glob("*.npy")}
    X = arrays["X"] if "X" in arrays else sp.csr_matrix(tuple(arrays[p] for p in PARTS), tuple(arrays["shape"]))
    return X, arrays["y"], arrays.get("weight")


class Worker:
    """Answers requests with the installed version."""

    def __init__(self, names: Names):
        self.names = names

    def list(self) -> dict[str, Any]:
        """Return the names of all public estimators, and where the library lies."""
        import separatrix

        dropin = self.names.module("separatrix.dropin")
        names = [*separatrix.__all__, *(f"dropin.{name}" for name in dropin.__all__)]
        found = [name for name in names if _is_estimator(self.names.find(name))]
        return {"names": sorted(found), "file": separatrix.__file__}

    def time(self, data: str, again: bool, **wanted: Any) -> dict[str, Any]:
        """Return the smallest seconds (processor and wall) of a fit. The first fit does not count, unless it is long
        and ``again`` is False."""
        call = self._call(data, **wanted)
        result, *first = _clocked(call)
        runs = [first]
        if again or first[0] <= LONG:
            runs, total = [], 0.0
            while len(runs) < MOST and total < (LONG if len(runs) < LEAST else ENOUGH):
                result, *spent = _clocked(call)
                runs.append(spent)
                total += spent[0]
        seconds, wall = (min(run[k] for run in runs) for k in (0, 1))
        answer = {"seconds": seconds, "wall": wall, "error": None, "bounds": []}
        if isinstance(result, Exception):
            return answer | {"error": type(result).__name__}
        return answer | {"bounds": [[c.lower, c.upper, c.gap] for c in _certificates(result)]}

    def results(self, data: str, to: str, **wanted: Any) -> dict[str, Any]:
        """Write the numbers of a fit to the file ``to``: fitted attributes, certificates, predictions."""
        model = self._call(data, **wanted)()
        if isinstance(model, Exception):
            return {"error": type(model).__name__}
        found = {name: _numbers(_read(model, name)) for name in dir(model) if name[-1] == "_" and name[0] != "_"}
        for k, certificate in enumerate(_certificates(model)):
            for name in ("lower", "upper", "separable", "radius"):
                value = getattr(certificate, name)
                found[f"certificate {k}: {name}"] = np.asarray(np.nan if value is None else value)
        if not wanted["files"]:
            found["predictions"] = _numbers(_attempt(lambda: model.predict(load(data)[0])))
        np.savez(to, **{name: value for name, value in found.items() if value is not None})
        return {"error": None}

    def _call(
        self, data: str, estimator: str, parameters: dict[str, Any], optional: dict[str, Any], files: bool = False
    ) -> Callable[[], Any]:
        """Return a function that fits, or calls the public function of that name; it returns an error it meets."""
        X, y, weight = load(data)
        arguments: tuple[Any, ...] = (X, y)
        if files:
            folder = Path(data)
            arguments = (self.names.find("data.open_files")(folder / "X.npy", target=folder / "y.npy"),)
        weights = {} if weight is None else {"sample_weight": weight}

        def call() -> Any:
            made = self.names.find(estimator)
            known = self.names.translated(made, parameters, optional)
            if _is_estimator(made):
                return made(**known).fit(*arguments, **weights)
            return made(*arguments, **known)

        return lambda: _attempt(call)


def _is_estimator(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, ClassifierMixin)


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def _clocked(call: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, start = time.perf_counter(), time.process_time()
    result = call()
    return result, time.process_time() - start, time.perf_counter() - wall


def _certificates(result: Any) -> list[Any]:
    found = _read(result, "certificates_")
    return found if isinstance(found, list) else [c for c in [_read(result, "certificate_")] if hasattr(c, "upper")]


def _read(model: Any, name: str) -> Any:
    return _attempt(lambda: getattr(model, name))


def _numbers(value: Any) -> np.ndarray | None:
    """Return numbers, truth values and lists of them as an array, anything else as None."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, list | tuple):
        parts = [_numbers(part) for part in value]
        if not parts or any(part is None for part in parts):
            return None
        return np.concatenate([np.ravel(part) for part in parts])
    if isinstance(value, bool | int | float | np.generic | np.ndarray):
        array = np.asarray(value)
        return array if array.dtype.kind in "biuf" else None
    return None


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints must not stand between the answers
    worker = Worker(Names(json.loads(sys.argv[1])))
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(worker, request.pop("do"))(**request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
