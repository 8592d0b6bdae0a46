"""The main job on rows that do not fit into memory, or that a cluster reads: the maximum margin with its proof."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from separatrix.app.workflows.asked import DEFAULTS, Options, Tell, begin
from separatrix.app.workflows.own_claims import against_the_rest, problem_names
from separatrix.app.workflows.watched_rows import GapSoFar, WatchedRows
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.data.base import RowSource
from separatrix.data.changed_rows import AgainstRest, ScaledRows
from separatrix.data.file_rows import FileRows
from separatrix.data.opening import open_files
from separatrix.data.table_files import TableFile
from separatrix.errors import MissingExtraError, NotSeparableError
from separatrix.estimators.max_margin import MaxMargin
from separatrix.passes.device_patterns import passed
from separatrix.passes.preparation import standardized, weighted

HEAD = 1000  # rows from which an encoder takes the types of columns


@dataclass(frozen=True)
class Place:
    """How rows are read. ``dask``: the address of a scheduler. ``workers``: processes of a cluster of this machine."""

    memory: str = "1GB"
    cache: str | None = None
    checkpoint: str | None = None
    dask: str | None = None
    workers: int | None = None


@dataclass
class FitElsewhere:
    """A fit and what is known of it."""

    source: str
    target: Any
    rows: RowSource
    model: Any  # a Pipeline: the preparation, then the separator
    separator: Any
    how: str
    refuted: Certificate | None  # the proof that no hyperplane separates, where one was asked for first
    errors: int | None  # rows on the wrong side
    verification: dict[str, Verification]
    passes: int
    seconds: float
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)


def fit_elsewhere(
    data: Any, target: Any = None, options: Options = DEFAULTS, place: Place | None = None, tell: Tell | None = None
) -> FitElsewhere:
    """Fit the maximum margin to files, block by block: hard where they are separable, else soft with C = 1, unless the
    options say otherwise. There is no cross-validation: every fold would read all rows several times.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from separatrix.app.workflows.fitting_elsewhere import fit_elsewhere
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "rows.npy", np.array([[0.0, 1.0, 0], [1.0, 0.0, 0], [3.0, 4.0, 1]]))
    >>> found = fit_elsewhere(str(folder / "*.npy"))
    >>> found.how, all(found.verification.values())
    ('maximum margin, hard', True)
    """
    place = Place() if place is None else place
    clock = time.perf_counter()
    with _cluster(place) as clustered:
        begin(tell, "Looking at the files")
        opened = open_files(data, target=target, memory=place.memory, cache=place.cache, encode=options.encode)
        watched = WatchedRows(_distributed(opened) if clustered else opened, tell)
        rows: RowSource = _scaled(watched, opened) if options.scale else watched
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            separator, how, refuted, interrupted = _fitted(rows, watched, options, place)
        verification = {} if interrupted else _verified(separator, rows, options)
        return FitElsewhere(
            source=str(data),
            target=target,
            rows=opened,
            model=_pipeline(separator, rows, opened, options),
            separator=separator,
            how=how,
            refuted=refuted,
            errors=None if interrupted else _errors(separator, rows),
            verification=verification,
            passes=watched.passes,
            seconds=time.perf_counter() - clock,
            interrupted=interrupted,
        )


@contextmanager
def _cluster(place: Place) -> Iterator[bool]:
    """A client of the cluster that was asked for; False where there is none."""
    if place.dask is None and place.workers is None:
        yield False
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError.of("distributed", "dask", "A cluster") from error
    if place.dask is not None:
        with Client(place.dask):
            yield True
        return
    with (
        LocalCluster(n_workers=place.workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield True


def _distributed(opened: FileRows) -> RowSource:
    from separatrix.data.dask_files import on_cluster

    return on_cluster(opened)


def _scaled(rows: WatchedRows, opened: FileRows) -> ScaledRows:
    """Columns of numbers standardised, those of encoded text as they are."""
    found = standardized(rows)
    first = opened.sources[0]
    encoded = sum(map(len, first.values.values())) if isinstance(first, TableFile) else 0
    centre, size = found.centre.copy(), found.size.copy()
    if encoded:
        centre[-encoded:], size[-encoded:] = 0.0, 1.0
    return ScaledRows(rows, centre, size)


def _fitted(
    rows: RowSource, watched: WatchedRows, options: Options, place: Place
) -> tuple[Any, str, Certificate | None, bool]:
    """The separator, how it came about, the proof that nothing separates, and whether Ctrl-C ended it."""
    refuted = None
    if options.estimator is not None:
        trials = [(options.estimator, type(options.estimator).__name__)]
        if place.checkpoint is not None:
            options.estimator.set_params(checkpoint=place.checkpoint)
    else:
        soft = 1.0 if options.C is None else options.C
        why = ", as there is no cross-validation of rows that are read from disk" if options.C is None else ""
        trials = [(_margin(soft, rows, options, place, ".soft"), f"maximum margin, soft with C = {soft:g}{why}")]
        if options.C is None or np.isinf(options.C):
            trials = [
                (_margin(np.inf, rows, options, place, ""), "maximum margin, hard"),
                *([] if options.C is not None else trials),
            ]
    for k, (separator, how) in enumerate(trials):
        if hasattr(separator, "set_callbacks"):
            separator.set_callbacks(GapSoFar(watched))
        try:
            separator.fit(rows)
        except NotSeparableError as error:
            if k + 1 == len(trials):
                raise
            refuted, watched.gap = error.certificate, np.inf
            continue
        except KeyboardInterrupt:
            if not hasattr(separator, "certificate_"):
                raise
            return separator, how, refuted, True
        finally:
            vars(separator).pop("_skl_callbacks", None)
        return separator, how, refuted, False
    raise AssertionError("one of the trials returns or raises")


def _margin(C: float, rows: RowSource, options: Options, place: Place, ending: str) -> MaxMargin:
    """A run of its own has a checkpoint of its own."""
    checkpoint = None if place.checkpoint is None else place.checkpoint + ending
    mode = options.multi_class or ("joint" if len(rows.classes) > 2 else "ovr")
    return MaxMargin(
        C,
        tol=options.tol,
        max_time=options.max_time,
        class_weight=options.class_weight,
        multi_class=mode,
        checkpoint=checkpoint,
    )


def _verified(separator: Any, rows: RowSource, options: Options) -> dict[str, Verification]:
    """The claims, recomputed by reading the rows again."""
    if getattr(separator, "class_weight", None) is not None:
        rows = weighted(rows, separator.class_weight)
    found, rest = {}, against_the_rest(separator)
    for k, (name, claim) in enumerate(zip(problem_names(separator), separator.certificates_, strict=True)):
        against = AgainstRest(rows, k) if rest else rows
        found[name] = claim.verify(against)
    return found


def _errors(separator: Any, rows: RowSource) -> int | None:
    """Rows on the wrong side of one hyperplane."""
    if len(rows.classes) > 2 or not hasattr(separator, "coef_"):
        return None
    space = separator._space()
    vector = space.join(separator.coef_[0], float(separator.intercept_[0]))
    return passed(rows, 1, space._replace(delta=0.0)).extremes(vector, 1).errors


def _pipeline(separator: Any, rows: RowSource, opened: FileRows, options: Options) -> Any:
    """The model, which takes columns as they stand in the files."""
    scaler = _scaler(rows, opened) if isinstance(rows, ScaledRows) else None
    first = opened.sources[0]
    if isinstance(first, TableFile) and first.values:
        steps = [("columns", _columns(first, scaler))]
    elif scaler is not None:
        steps = [("scale", scaler)]
    else:
        return Pipeline([("separator", separator)])
    names = vars(separator).pop("feature_names_in_", None)  # its columns have passed through the steps
    if names is not None and scaler is not None and steps[0][0] == "scale":
        scaler.feature_names_in_ = names
    return Pipeline([*steps, ("separator", separator)])


def _scaler(rows: ScaledRows, opened: FileRows) -> StandardScaler:
    """scikit-learn's, as if it had been fitted to the rows."""
    scaler = StandardScaler(with_mean=not opened.sparse)
    scaler.mean_, scaler.scale_, scaler.var_ = rows.centre, rows.size, rows.size**2
    scaler.n_samples_seen_, scaler.n_features_in_ = int(opened.n), opened.width
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
