"""The data sets of the study: what comes with scikit-learn, the real sets of SEPARATRIX_DATA, and generated ones.

Each is (kind, function), the function gives dense float64 rows and labels. Sets with more than `MOST` rows are sampled
class by class, and text keeps its `WORDS` most frequent columns; both are drawn with a fixed seed and never look at how
well anything predicts.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn import datasets as of_sklearn
from sklearn.model_selection import train_test_split

from benchmarks import data

MOST = 300  # rows
WORDS = 100  # columns of a text
SEED = 0

Made = tuple[np.ndarray, np.ndarray]


def sampled(X, y, most: int = MOST) -> Made:
    """At most so many rows, with the classes in their proportions."""
    if len(y) > most:
        kept, _ = train_test_split(np.arange(len(y)), train_size=most, stratify=y, random_state=SEED)
        X, y = X[np.sort(kept)], np.asarray(y)[np.sort(kept)]
    if sp.issparse(X):
        X = X.toarray()
    X = np.ascontiguousarray(X, dtype=np.float64)
    return X[:, np.ptp(X, axis=0) > 0], np.asarray(y)  # a column without two values says nothing


def frequent(X, words: int = WORDS):
    """The columns that are not 0 in the most rows."""
    counts = np.asarray((X != 0).sum(axis=0)).ravel()
    return X[:, np.sort(np.argsort(-counts, kind="stable")[:words])]


def _real(name: str) -> Made:
    return sampled(*data.real(name))


def _words(name: str) -> Made:
    X, y = data.real(name)
    return sampled(frequent(X), y)


def _mnist_pair() -> Made:
    """4 against 9, in squares of 2 x 2 pixels."""
    X, y = data.mnist()
    X, y = X[np.isin(y, (4, 9))], y[np.isin(y, (4, 9))]
    return sampled(X.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196), y)


def _diabetes() -> Made:
    X, progress = of_sklearn.load_diabetes(return_X_y=True)
    return sampled(X, (progress > np.median(progress)).astype(int))


def _loaded(name: str) -> Made:
    return sampled(*getattr(of_sklearn, f"load_{name}")(return_X_y=True))


def _made(name: str, *arguments, **options) -> Made:
    return getattr(of_sklearn, f"make_{name}")(*arguments, random_state=SEED, **options)


def _classes(n: int, d: int, informative: int, flipped: float, **options) -> Made:
    return _made("classification", n, d, n_informative=informative, **{"flip_y": flipped, "n_redundant": 0} | options)


def _correlated(n: int, d: int, correlation: float, noise: float) -> Made:
    """Neighbouring columns are correlated (an autoregressive chain); labels of a hyperplane, with noise."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    score = X @ rng.standard_normal(d)
    return X, (score + noise * score.std() * rng.standard_normal(n) > 0).astype(int)


def _few_matter(n: int, d: int, relevant: int) -> Made:
    """Columns of -1 and 1; the label is the majority of the first few."""
    X = np.random.default_rng(SEED).choice([-1.0, 1.0], (n, d))
    return X, (X[:, :relevant].sum(axis=1) > 0).astype(int)


def _heavy_tails(n: int, d: int, freedom: float) -> Made:
    """Student's t instead of Gaussian rows; a twentieth of the labels is wrong."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_t(freedom, (n, d))
    right = X @ rng.standard_normal(d) > 0
    return X, np.where(rng.random(n) < 0.05, ~right, right).astype(int)


def _text() -> Made:
    X, y = data.text_like(300, 2000, 30, noise=0.2, seed=SEED)
    return sampled(frequent(X), y)


# The order of a run: what takes long comes last.
SETS: dict[str, tuple[str, Callable[[], Made]]] = {
    "iris": ("real", partial(_loaded, "iris")),
    "wine": ("real", partial(_loaded, "wine")),
    "breast cancer": ("real", partial(_loaded, "breast_cancer")),
    "diabetes, above the median": ("real", _diabetes),
    "sonar": ("real", partial(_real, "sonar")),
    "WBC": ("real", partial(_real, "WBC")),
    "5 of 20 features, 5% flipped": ("generated", partial(_classes, 300, 20, 5, 0.05)),
    "5 of 20 features, 30% flipped": ("generated", partial(_classes, 300, 20, 5, 0.3)),
    "8% in one class": ("generated", partial(_classes, 300, 20, 5, 0.01, weights=[0.92])),
    "25 of 30 features redundant": ("generated", partial(_classes, 300, 30, 5, 0.05, n_redundant=25)),
    "120 rows, 100 features": ("generated", partial(_classes, 120, 100, 10, 0.05)),
    "two far blobs": ("generated", partial(_made, "blobs", 200, 5, centers=2, cluster_std=2.0)),
    "three near blobs": ("generated", partial(_made, "blobs", 200, 2, centers=3, cluster_std=2.5)),
    "hyperplane with a gap": ("generated", partial(data.separable, 300, 20, gap=0.1)),
    "hyperplane with noise": ("generated", partial(data.overlapping, 300, 10, 1.0)),
    "correlated features": ("generated", partial(_correlated, 300, 30, 0.95, 0.3)),
    "heavy tails": ("generated", partial(_heavy_tails, 300, 10, 1.5)),
    "a ball in a shell": ("generated", partial(_made, "gaussian_quantiles", n_samples=300, n_features=5, n_classes=2)),
    "Hastie's ten Gaussians": ("generated", partial(_made, "hastie_10_2", 300)),
    "moons": ("generated", partial(_made, "moons", 200, noise=0.25)),
    "circles": ("generated", partial(_made, "circles", 200, noise=0.1, factor=0.5)),
    "mushrooms": ("real", partial(_real, "mushrooms")),
    "a9a": ("real", partial(_real, "a9a")),
    "news20, 100 words": ("real", partial(_words, "news20")),
    "sector, 100 words": ("real", partial(_words, "sector")),
    "3 of 100 features matter": ("generated", partial(_few_matter, 200, 100, 3)),
    "words": ("generated", _text),
    "60 rows, 300 features": ("generated", partial(_classes, 60, 300, 10, 0.0)),
    "w8a": ("real", partial(_real, "w8a")),
    "MNIST 4-9": ("real", _mnist_pair),
    "four classes": ("generated", partial(_classes, 300, 20, 8, 0.02, n_classes=4)),
    "digits": ("real", partial(_loaded, "digits")),
}
