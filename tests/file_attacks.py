"""Damaged and forged files, drawn from a seed and read in a process with little memory and time.

``python file_attacks.py data|models seed count folder [first]``. Before each trial its number is written to
``folder``/trial. The process has 2 GiB of address space, and 10 seconds of work or 100 of waiting for a trial; it dies
by a signal when they are over. At the end it prints what became of the trials as JSON, and how many there were of each
kind; whatever is neither an error of the public family nor a sound answer is reported.
"""

import contextlib
import gzip
import io
import json
import os
import resource
import signal
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path

MEMORY, SECONDS, WAITING, TRACE = 2 << 30, 10, 100, "code was run"
ASIDE = ("parquet", "arrow", "excel")  # read by a process of their own, which takes its time:
RARELY = 0.06  # so many of these, of 1
CLASSES = [  # of which none may be made
    {"!": "object", "class": name, "fields": {"args": "touch harm", "0": "x"}}
    for name in (
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "separatrix.persistence.output.write_atomically",
        "numpy.load",
    )
]
ODD_NUMBERS = ["nan", "inf", "-inf", "1e999", "-1e400", "1e-400", "0x10", "1_0", "9" * 400, "-0", "", " ", "?", "1,5"]
ODD_TEXTS = [
    "\0",
    '"',
    "'",
    "\n",
    "\r",
    "\n\n",
    ",",
    "\t",
    ":",
    "{",
    "}",
    "[",
    "]",
    "@data",
    "#",
    "\ufeff",
    "\ud7ff",
    "1:",
    ":1",
]
ODD_VALUES = [
    None,
    True,
    False,
    -1,
    0,
    1,
    10**6,
    2**63,
    10**30,
    -1e308,
    1e-320,
    "",
    "x",
    "nan",
    [],
    {},
    [[]],
    {"!": "array"},
]


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def damaged(rng, content, other):
    """Bytes with one to four things done to them."""
    content = bytearray(content)
    for _ in range(int(pick(rng, [1, 1, 2, 4]))):
        i, j = sorted(int(k) for k in rng.integers(0, len(content) + 1, 2))
        kind = rng.integers(8)
        if kind == 0 and content:
            content[min(i, len(content) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1 and content:
            content[min(i, len(content) - 1)] = int(pick(rng, [0, 255, 10, 34, 44, 32, 45, 46, 57]))
        elif kind == 2:
            del content[i : i + int(rng.integers(1, 20))]
        elif kind == 3:
            content[i:i] = pick(rng, ODD_NUMBERS + ODD_TEXTS).encode()
        elif kind == 4:
            del content[i:]
        elif kind == 5:
            content[i:i] = content[i:j]
        elif kind == 6:
            content[i : i + 8] = int(pick(rng, [2**31 - 1, 2**32, 2**63 - 1, 0, 10**12])).to_bytes(8, "little")
        else:
            content[i:i] = other[: int(rng.integers(len(other) + 1))]
    return bytes(content)


# Data files


def data_files():
    """One small table in every format that is read, as bytes; with the options that it may be read with."""
    import numpy as np
    import polars as pl
    import scipy.sparse as sp
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)).round(3), np.arange(12) % 2
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": ["u", "v", "w"] * 4, "label": ["no", "yes"] * 6})

    def written(write):
        file = io.BytesIO()
        write(file)
        return file.getvalue()

    sparse = written(lambda f: sp.save_npz(f, sp.csr_matrix(X)))
    parts = dict(np.load(io.BytesIO(sparse)))
    names = "\n".join(f"@attribute {name} numeric" for name in "abc")
    rows = "\n".join(",".join(map(str, [*x, "no" if l else "yes"])) for x, l in zip(X, y, strict=True))
    files = {
        "csv": frame.write_csv().encode(),
        "tsv": frame.write_csv(separator="\t").encode(),
        "quoted": frame.write_csv(quote_style="always").encode(),
        "parquet": written(frame.write_parquet),
        "parquet-plain": written(lambda f: frame.write_parquet(f, compression="uncompressed")),
        "ndjson": written(frame.write_ndjson),
        "json": written(frame.write_json),
        "arrow": written(frame.write_ipc),
        "arrow-packed": written(lambda f: frame.write_ipc(f, compression="zstd")),
        "excel": written(lambda f: frame.write_excel(f)),
        "libsvm": written(lambda f: dump_svmlight_file(X, y, f, zero_based=False)),
        "arff": f"@relation r\n{names}\n@attribute label {{no,yes}}\n@data\n{rows}\n".encode(),
        "npy": written(lambda f: np.save(f, np.column_stack([X, y]))),
        "npz": written(lambda f: np.savez(f, X=X, y=y)),
        "npz-packed": written(lambda f: np.savez_compressed(f, X=X, y=y)),
        "npz-sparse": written(lambda f: np.savez(f, y=y, **parts)),
    }
    return {**files, **{f"{name}.gz": gzip.compress(content) for name, content in files.items()}}


def bombs(folder):
    """Small files that ask for much memory: zeros packed, rows that are repeated, shapes and indices that are
    reported."""
    import numpy as np
    import polars as pl
    import xlsxwriter

    zeros = folder / "zeros"
    pl.DataFrame({"a": np.zeros(2 << 20), "y": np.arange(2 << 20) % 2}).write_parquet(zeros, compression="zstd")
    np.savez_compressed(folder / "packed.npz", X=np.zeros((1 << 14, 1 << 11)), y=np.arange(1 << 14) % 2)
    far = folder / "far.xlsx"
    with xlsxwriter.Workbook(far) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, 1)
        sheet.write(1_048_575, 16_383, 1)
    pl.DataFrame({"a": np.zeros(1 << 21), "y": np.zeros(1 << 21)}).write_ipc(folder / "zeros.arrow", compression="zstd")
    shape = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }".ljust(117) + b"\n"
    return {
        "gzip": gzip.compress(bytes(1 << 28), 9),
        "gzip of gzip": gzip.compress(gzip.compress(bytes(1 << 28), 9), 9),
        "csv.gz": gzip.compress(b"a,y\n" + b"1,u\n2,v\n" * (1 << 20)),
        "parquet": zeros.read_bytes(),
        "arrow": (folder / "zeros.arrow").read_bytes(),
        "excel": far.read_bytes(),
        "npz": (folder / "packed.npz").read_bytes(),
        "npy": b"\x93NUMPY\x01\x00\x76\x00" + shape + bytes(100),
        "libsvm": b"1 1:1 2000000000:1\n-1 1:2\n",
        "json": b"[" * 500_000,
        "ndjson": b'{"a": ' * 100_000,
        "csv": b"a" * 3_000_000 + b"\n1",
        "wide csv": b"," * 1_000_000 + b"\n" + b"1," * 1_000_000 + b"\n",
        "arff": b"@relation r\n" + b"@attribute a numeric\n" * 200_000 + b"@data\n1\n",
        **pickled(folder),
    }


class Harm:
    """What leaves a trace where it is unpickled."""

    def __init__(self, folder):
        self.trace = str(folder / TRACE)

    def __reduce__(self):
        return os.mkdir, (self.trace,)


def pickled(folder):
    """Arrays that numpy would unpickle if it were allowed to."""
    import numpy as np

    harm = np.array([[Harm(folder), 1.0], [2.0, 3.0]], dtype=object)
    np.save(folder / "harm.npy", harm, allow_pickle=True)
    np.savez(folder / "harm.npz", X=harm, y=np.arange(2))
    return {f"pickled {ending}": (folder / f"harm.{ending}").read_bytes() for ending in ("npy", "npz")}


class Data:
    def __init__(self, folder):
        self.path, self.files, self.bombs = folder / "data", data_files(), bombs(folder)

    def draw(self, rng):
        name = pick(rng, sorted(self.files))
        while name.startswith(ASIDE) and rng.random() > RARELY:
            name = pick(rng, sorted(self.files))
        kind, content = name, damaged(rng, self.files[name], self.files[pick(rng, sorted(self.files))])
        if name.endswith(".gz") and rng.random() < 0.7:  # damage within what is packed
            inside = gzip.decompress(self.files[name])
            content = gzip.compress(damaged(rng, inside, inside))
        if rng.random() < 0.002:
            bomb = pick(rng, sorted(self.bombs))
            kind, content = f"bomb: {bomb}", self.bombs[bomb]
            if rng.random() < 0.3:
                content = damaged(rng, content, b"0")
        self.path.write_bytes(content)
        named = not name.startswith(("np", "libsvm"))
        options = {"target": pick(rng, ["label" if named else None] * 6 + ["label", None, "1", "-1", "y", "7"])}
        if rng.random() < 0.3:
            options["format"] = name.split(".")[0].split("-")[0].replace("quoted", "csv")
        if rng.random() < 0.2:
            options["labels"] = pick(rng, ["optional", "ignored"])
        return kind, options

    def answer(self, options):
        """Reads the file; as many labels as rows, and columns of floats or text."""
        from separatrix.app.tables import read_table

        table = read_table(self.path, **options)
        assert table.X.shape == (table.n, table.d)
        assert table.y is None or len(table.y) == table.n
        if options.get("labels", "required") == "required":
            assert len(set(table.y.tolist())) >= 2


# Model files


def models():
    import numpy as np
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

    from separatrix import KernelMaxMargin, KernelPerceptron, MaxMargin, Perceptron, VotedPerceptron

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    columns = ColumnTransformer([("n", StandardScaler(), [0, 1]), ("w", OneHotEncoder(handle_unknown="ignore"), [2])])
    return X, [
        model.fit(X.round(), y)
        for model in (
            Perceptron(max_iter=5),
            MaxMargin(),
            MaxMargin(multi_class="joint"),
            VotedPerceptron(max_iter=3),
            KernelPerceptron(max_iter=3),
            KernelMaxMargin(),
            make_pipeline(StandardScaler(), PolynomialFeatures(2), MaxMargin()),
            make_pipeline(columns, Perceptron(max_iter=5)),
        )
    ]


def places(tree, found):
    """Every place of a document, as the thing that holds it and its key."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        found.append((tree, key))
        places(tree[key], found)
    return found


class Models:
    def __init__(self, folder):
        from separatrix import save

        self.path = folder / "model.sx"
        self.X, self.models = models()
        self.files, self.expected = [], []
        for model in self.models:
            save(model, self.path)
            self.files.append(self.path.read_bytes())
            self.expected.append(model.predict(self.X.copy()).tolist())

    def draw(self, rng):
        """Bytes that are damaged, or a document that is forged and has the right digest."""
        k = int(rng.integers(len(self.models)))
        if rng.random() < 0.4:
            content = damaged(rng, self.files[k], pick(rng, self.files))
            self.path.write_bytes(content)
            return "damaged", self.expected[k]
        self.forge(rng, self.models[k])
        return "forged", None

    def forge(self, rng, model):
        from safetensors.numpy import save as pack

        from separatrix.persistence.encoding import encode
        from separatrix.persistence.files import _digest

        arrays = {}
        document = json.loads(json.dumps({"model": encode(model, arrays), "provenance": {}}))
        for _ in range(int(pick(rng, [1, 1, 2, 3]))):
            spots = places(document, [])
            (tree, key), (other, place) = pick(rng, spots), pick(rng, spots)
            kind = rng.integers(4)
            if kind == 0:
                tree[key] = pick(rng, ODD_VALUES)
            elif kind == 1:
                tree[key] = json.loads(json.dumps(other[place]))
            elif kind == 2 and isinstance(tree, dict):
                del tree[key]
            elif arrays:
                name = pick(rng, sorted(arrays))
                arrays[name] = self.odd_array(rng, arrays[name])
        text = json.dumps(document)
        shown = {"format": "separatrix", "format_version": pick(rng, ["2", "2", "2", "1"]), "document": text}
        self.path.write_bytes(pack(arrays, {**shown, "digest": _digest(text, arrays)}))

    def odd_array(self, rng, array):
        import numpy as np

        kind = rng.integers(5)
        if kind == 0:
            return np.ascontiguousarray(array.ravel()[:-1])
        if kind == 1:
            return array.astype(pick(rng, [np.float32, np.int8, np.int64, np.bool_, np.float16]))
        if kind == 2:
            return np.zeros(pick(rng, [(0,), (3, 0), (1,), (2, 2, 2), ()]))
        if kind == 3 and array.size:
            array = array.copy()
            array.flat[int(rng.integers(array.size))] = pick(rng, [0, -1, 100, 127])
            return array
        return np.ascontiguousarray(array[::-1]) if array.ndim else array

    def answer(self, expected):
        """Loads and predicts: what it was before, where bytes are damaged. A forged model may refuse to predict."""
        from separatrix import load

        model = load(self.path)
        if expected is not None:
            assert model.predict(self.X.copy()).tolist() == expected
            return
        with contextlib.suppress(Exception):  # the documentation of `load` promises no more
            model.predict(self.X.copy())  # a forged scaler may work in place


def main(kind, seed, count, folder, first=0):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ.update(dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    warnings.simplefilter("ignore")
    import numpy as np

    from separatrix.errors import SeparatrixError

    folder, seen, kinds, wrong = Path(folder), Counter(), Counter(), []
    attack = {"data": Data, "models": Models}[kind](folder)
    for trial in range(int(first), int(count)):
        (folder / "trial").write_text(str(trial))
        rng = np.random.default_rng([int(seed), trial])
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(WAITING)
        try:
            name, shown = attack.draw(rng)
            kinds[name] += 1
            attack.answer(shown)
            seen["answers"] += 1
        except SeparatrixError:
            seen["refused"] += 1
        except BaseException:
            seen["wrong"] += 1
            wrong.append((trial, traceback.format_exc()[-1500:]))
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    if (folder / TRACE).exists():
        seen["wrong"] += 1
        wrong.append("code was run")
    print(json.dumps({**seen, "kinds": kinds, "examples": wrong[:5]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
