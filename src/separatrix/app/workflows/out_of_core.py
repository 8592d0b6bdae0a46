"""Out-of-core data of the main job: files that are read block by block, here or by the workers of a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from separatrix.app.tables.table import Numbered, Table
from separatrix.app.workflows.options import Tell, begin
from separatrix.app.workflows.own_claims import against_the_rest, problem_names
from separatrix.app.workflows.progress import PassProgress
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.gordan import Gordan
from separatrix.certificates.separability import Separability, separability
from separatrix.data.base import RowSource
from separatrix.data.changed_rows import AgainstRest, ScaledRows
from separatrix.data.fetched import part_of
from separatrix.data.file_rows import FileRows
from separatrix.data.memory import MemoryRows
from separatrix.data.opening import open_files
from separatrix.data.table_files import TableFile
from separatrix.errors import MissingExtraError
from separatrix.passes.preparation import standardized, weighted

HEAD = 1000  # rows from which an encoder takes the types of columns


@dataclass(frozen=True)
class BlockReading:
    """How blocks are read. ``dask``: the address of a scheduler. ``workers``: processes of a cluster of their own."""

    memory: str = "1GB"
    cache: str | None = None
    checkpoint: str | None = None
    dask: str | None = None
    workers: int | None = None

    @contextmanager
    def open(self, data: Any, target: Any, encode: bool, tell: Tell | None) -> Iterator["FileTable"]:
        """Open the files, and the cluster if there is one."""
        if target is not None and str(target).lstrip("-").isdigit():
            target = int(target)  # the place of a column
        with self._cluster() as clustered:
            begin(tell, "Looking at the files")
            files = open_files(data, target=target, memory=self.memory, cache=self.cache, encode=encode)
            source: RowSource = files
            if clustered:
                from separatrix.data.dask_files import on_cluster

                source = on_cluster(files)
            passes = PassProgress(source, tell)
            yield FileTable(str(data), "files", "", passes, target=target, files=files, checkpoint=self.checkpoint)

    @contextmanager
    def _cluster(self) -> Iterator[bool]:
        """Connect to the cluster, if one is requested."""
        if self.dask is None and self.workers is None:
            yield False
            return
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise MissingExtraError.of("distributed", "dask", "A cluster") from error
        if self.dask is not None:
            with Client(self.dask):
                yield True
            return
        cluster = LocalCluster(n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address=None)
        with cluster, Client(cluster):
            yield True


@dataclass(frozen=True)
class FileTable(Table):
    """A table whose rows stay in their files: ``X`` is their row source."""

    files: Any = None  # FileRows
    checkpoint: str | None = None

    @property
    def n(self) -> int:
        return int(self.X.n)

    @property
    def d(self) -> int:
        return len(self.names)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns as they stand in the files."""
        first = self.files.sources[0]
        return first.columns if isinstance(first, TableFile) else self.X.names or Numbered(self.X.width)

    @property
    def texts(self) -> dict[str, list[str]]:
        """Columns of text that are encoded, with their values."""
        first = self.files.sources[0]
        return first.values if isinstance(first, TableFile) else {}

    @property
    def nbytes(self) -> int:
        return 0

    def prepared(self, scale: bool) -> tuple[RowSource, list[Any]]:
        """The rows for a fit, and the steps that do the same to rows in memory."""
        rows: Any = self._scaled() if scale else self.X
        scaler = _scaler(rows, self.files) if scale else None
        if self.texts:
            return rows, [("columns", _columns(self.files.sources[0], scaler))]
        return rows, [] if scaler is None else [("scale", scaler)]

    def _scaled(self) -> ScaledRows:
        """Columns of numbers standardized, those of encoded text as they are."""
        found = standardized(self.X)
        encoded = sum(map(len, self.texts.values()))
        center, size = found.centre.copy(), found.size.copy()
        if encoded:
            center[-encoded:], size[-encoded:] = 0.0, 1.0
        return ScaledRows(self.X, center, size)

    def with_checkpoint(self, estimator: Any, ending: str = "") -> Any:
        """The estimator with a checkpoint file of its own, if one is requested."""
        return estimator if self.checkpoint is None else estimator.set_params(checkpoint=self.checkpoint + ending)


def _scaler(rows: ScaledRows, files: FileRows) -> StandardScaler:
    """scikit-learn's scaler, as if it had been fitted to the rows."""
    scaler = StandardScaler(with_mean=not files.sparse)
    scaler.mean_, scaler.scale_, scaler.var_ = rows.centre, rows.size, rows.size**2
    scaler.n_samples_seen_, scaler.n_features_in_ = int(files.n), files.width
    return scaler


def _columns(table: TableFile, scaler: StandardScaler | None) -> Any:
    """The encoder of `separatrix.data.open_files`, as scikit-learn's."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder

    numbers = [name for name in table.columns if name not in table.values]
    encoder = OneHotEncoder(handle_unknown="ignore", categories=[list(v) for v in table.values.values()])
    parts: list[Any] = [("text", Pipeline([("encode", encoder)]), list(table.values))]
    if numbers:
        first = "passthrough" if scaler is None else Pipeline([("scale", StandardScaler())])
        parts.insert(0, ("numbers", first, numbers))
    found = ColumnTransformer(parts, verbose_feature_names_out=False)
    found.fit(table.scan.select(table.columns).head(HEAD).collect())
    if numbers and scaler is not None:
        inner, width = found.named_transformers_["numbers"].named_steps["scale"], len(numbers)
        for name in ("mean_", "scale_", "var_"):
            setattr(inner, name, getattr(scaler, name)[:width])
        inner.n_samples_seen_ = scaler.n_samples_seen_
    return found


def verified_by_passes(separator: Any, rows: RowSource) -> dict[str, Verification]:
    """Every claim, recomputed by reading the rows again."""
    if getattr(separator, "class_weight", None) is not None:
        rows = weighted(rows, separator.class_weight)
    found, rest = {}, against_the_rest(separator)
    for k, (name, claim) in enumerate(zip(problem_names(separator), separator.certificates_, strict=True)):
        found[name] = claim.verify(AgainstRest(rows, k) if rest else rows)
    return found


class _Correct(NamedTuple):
    rows: int

    def merge(self, other: "_Correct") -> "_Correct":
        return _Correct(self.rows + other.rows)


def correct_rows(separator: Any, rows: RowSource) -> int:
    """How many rows are classified correctly, by one pass."""
    return rows.run(partial(_correct, separator)).rows


def _correct(separator: Any, block: MemoryRows) -> _Correct:
    part = part_of(block.here())
    return _Correct(int(np.sum(separator.predict(part.X) == separator.classes_[part.y])))


def separability_of(rows: RowSource, proofs: list[Certificate], max_time: float) -> Separability:
    """The answer that a certificate of a fit has decided already, or that of new passes."""
    for claim in proofs:
        if claim.n_classes != len(rows.classes):  # it is about one class against the rest
            continue
        if claim.separable:
            return Separability(True, "complete", False, claim)
        if claim.separable is False and claim.alpha_index is not None and claim.alpha is not None:
            proof = Gordan(claim.alpha_index, claim.alpha, 0.0)
            return Separability(False, "undecided", False, claim, infeasibility_proof=proof)
    return separability(rows, max_time=max_time, check_quasi=False)
