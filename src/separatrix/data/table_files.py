"""Rows in tables that polars streams: Parquet, Arrow (IPC, Feather), CSV, NDJSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.data.npy_array import neighbours
from separatrix.data.row_source import Part, PartSource, joined, regrouped
from separatrix.errors import DataError

SURE = 10_000  # rows of a text file from which the types of columns are taken
SLICES = 16  # runs of wanted rows up to which each is read for itself
SCANS = {
    ".parquet": "scan_parquet",
    ".pq": "scan_parquet",
    ".arrow": "scan_ipc",
    ".feather": "scan_ipc",
    ".ipc": "scan_ipc",
    ".csv": "scan_csv",
    ".tsv": "scan_csv",
    ".ndjson": "scan_ndjson",
    ".jsonl": "scan_ndjson",
}


class TableFile(PartSource):
    """``target``: the name or number of the labels' column, by default the last. ``columns``: those of the first file,
    which every file has to have."""

    columns: list[str]

    def __init__(
        self,
        path: Path,
        target: Any = None,
        weight: Any = None,
        columns: list[str] | None = None,
        encode: bool = False,
    ):
        super().__init__(str(path), [path])
        self.scan = self._scan(path, -1 if target is None else target)
        kinds = self._guarded(self.scan.collect_schema)
        names = kinds.names()
        self.target = self._column(-1 if target is None else target, names, "target")
        self.weight = None if weight is None else self._column(weight, names, "weight")
        self.weighted = weight is not None
        own = [name for name in names if name not in (self.target, self.weight)]
        self.columns = own if columns is None else columns
        self.texts: list[str] = []  # columns of text
        self.values: dict[str, list[str]] = {}  # what is found in these
        missing = [name for name in self.columns if name not in own]
        if missing or len(own) != len(self.columns):
            other = missing[0] if missing else next(name for name in own if name not in self.columns)
            where = "lacks" if missing else "has"
            raise DataError(f"{path} {where} the column {other!r}, unlike the first file. All need the same columns.")
        self.width = len(self.columns)
        text = path.suffix in (".csv", ".tsv", ".ndjson", ".jsonl")
        single = not text and all(str(kinds[name]) == "Float32" for name in self.columns)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.height = None if text else self._height()
        if text and not self._guarded(self.scan.head(1).collect).height:
            self.height = 0  # without rows, columns have no types
        elif not self.columns:
            raise DataError(f"{path}: there are no columns beside the target.")
        else:
            self._check_numbers(kinds, encode)

    @property
    def schema(self) -> str:
        return f"{super().schema} {self.target} {self.weight} {self.columns} {self.values}"

    def texts_found(self) -> dict[str, set[str]]:
        """The different values of the columns of text."""
        import polars as pl

        found = {}
        for name in self.texts:
            scan = self.scan.select(pl.col(name).cast(pl.String).unique())
            values = self._guarded(lambda: scan.collect(engine="streaming"))[name].to_list()  # noqa: B023
            if None in values:
                raise DataError(f"{self.name}: column {name!r} has missing values. Fill them in, or leave it out.")
            found[name] = set(values)
        return found

    def encode(self, values: dict[str, list[str]]) -> None:
        """Let the columns of text be columns of 0 and 1, one for each value: behind those of numbers."""
        self.values = values
        self.width = len(self.columns) - len(values) + sum(map(len, values.values()))

    @property
    def names(self) -> list[str]:
        numbers = [name for name in self.columns if name not in self.values]
        return numbers + [f"{name}_{value}" for name, values in self.values.items() for value in values]

    def _scan(self, path: Path, target: Any) -> Any:
        import polars as pl

        kind = SCANS[path.suffix]
        if kind != "scan_csv":
            return self._guarded(lambda: getattr(pl, kind)(path))
        separator = "\t" if path.suffix == ".tsv" else ","
        scan = pl.scan_csv(path, separator=separator, infer_schema_length=SURE)
        kinds = self._guarded(scan.collect_schema)
        target = self._column(target, kinds.names(), "target")
        # a column of integers may have fractions further down
        overrides = {name: pl.Float64 for name, kind in kinds.items() if kind.is_integer() and name != target}
        return pl.scan_csv(path, separator=separator, infer_schema_length=SURE, schema_overrides=overrides)

    def _guarded(self, call: Any) -> Any:
        """What polars does, with its errors in the family."""
        import polars as pl

        try:
            return call()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise DataError(f"{self.name} cannot be read: {str(error).strip().splitlines()[0]}.") from error

    def _height(self) -> int:
        import polars as pl

        return int(self._guarded(lambda: self.scan.select(pl.len()).collect(engine="streaming")).item())

    def _column(self, where: Any, names: list[str], what: str) -> str:
        if isinstance(where, (int, np.integer)) and -len(names) <= where < len(names):
            return names[where]
        if where in names:
            return str(where)
        raise DataError(
            f"{self.name} has no column {where!r} for {what}; it has {', '.join(names[:10])}"
            f"{', ...' if len(names) > 10 else ''}."
        )

    def _check_numbers(self, kinds: Any, encode: bool) -> None:
        for name in self.columns:
            kind = kinds[name]
            if kind.is_numeric() or str(kind) == "Boolean":
                continue
            if not encode or kind.is_nested() or kind.is_temporal():
                raise DataError(
                    f"{self.name}: column {name!r} holds {kind}, not numbers. "
                    "Encode text with open_files(..., encode=True) or --encode, or leave the column out."
                )
            self.texts.append(name)

    def _part(self, frame: Any) -> Part:
        import polars as pl

        kind = pl.Float32 if self.dtype == np.float32 else pl.Float64
        numbers = [pl.col(name).cast(kind) for name in self.columns if name not in self.values]
        places = [
            (pl.col(name).cast(pl.String) == value).cast(kind).alias(f"{name}_{value}")
            for name, values in self.values.items()
            for value in values
        ]
        table = frame.select(*numbers, *places).to_numpy(order="c")
        weight = None if self.weight is None else frame[self.weight].cast(pl.Float64).to_numpy()
        return Part(table, _labels(frame[self.target]), weight)

    def _batches(self, scan: Any, step: int) -> Iterator[Any]:
        batches = self._guarded(lambda: iter(scan.collect_batches(chunk_size=step, maintain_order=True)))
        while True:
            frame = self._guarded(lambda: next(batches, None))
            if frame is None:
                return
            yield frame

    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        scan = self.scan.slice(first) if first else self.scan
        return regrouped((self._part(frame) for frame in self._batches(scan, step)), step)

    def labels(self, step: int) -> Iterator[np.ndarray] | None:
        if self.height is None:
            return None
        scan = self.scan.select(self.target)
        return (_labels(frame[self.target]) for frame in self._batches(scan, step))

    def take(self, index: np.ndarray, step: int) -> Part:
        runs = neighbours(index, step)
        if self.height is None or len(runs) > SLICES:
            return super().take(index, step)
        found = []
        for a, b in runs:
            first, end = int(index[a]), int(index[b - 1]) + 1
            frame = self._guarded(lambda: self.scan.slice(first, end - first).collect(engine="streaming"))  # noqa: B023
            found.append(self._part(frame[index[a:b] - first]))
        return joined(found)


def _labels(column: Any) -> np.ndarray:
    """Labels as numpy holds them; missing ones as NaN or as an empty text, which nobody takes for a class."""
    kind = str(column.dtype)
    if (column.dtype.is_numeric() and not kind.endswith("Int128")) or kind == "Boolean":
        return column.to_numpy() if not column.null_count() else column.cast(float).to_numpy()
    import polars as pl

    return column.cast(pl.String).fill_null("").to_numpy().astype(str)
