"""The data of the race: real sets from SEPARATRIX_DATA, and generated ones whose separability and condition are
stated.
"""

import gzip
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from separatrix.reproductions.datasets.papers import data_file, load_sonar, load_wbc


def halves(y):
    """Two classes of many: the lower and the upper half of the labels."""
    classes = np.unique(y)
    return np.where(y <= classes[(len(classes) - 1) // 2], -1, 1)


def svmlight(name, file):
    X, y = load_svmlight_file(str(data_file(name, file)))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LIBLINEAR takes no others
    return X, y


def _svmlight(name, file):
    X, y = svmlight(name, file)
    return X, halves(y)


def _news20():
    X = sp.csr_matrix(sp.load_npz(data_file("news20", "news20_train.npz")))
    return X, halves(np.load(data_file("news20", "news20_labels.npz"))["train"])


def _paper(load):
    X, y = load()
    return np.ascontiguousarray(X, dtype=np.float64), np.where(y == np.unique(y)[1], 1, -1)


def mnist(part="train"):
    """Images in [0, 1] as float32, and digits."""
    with gzip.open(data_file("mnist", f"{part}-images-idx3-ubyte.gz")) as images:
        X = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(data_file("mnist", f"{part}-labels-idx1-ubyte.gz")) as labels:
        y = np.frombuffer(labels.read(), np.uint8, offset=8)
    return (X / 255.0).astype(np.float32), y.astype(int)


def _mnist_pair(negative, positive):
    X, y = mnist()
    kept = (y == negative) | (y == positive)
    return np.ascontiguousarray(X[kept], dtype=np.float64), np.where(y[kept] == positive, 1, -1)


REAL = {
    "a9a": lambda: _svmlight("a9a", "a9a"),
    "w8a": lambda: _svmlight("w8a", "w8a"),
    "mushrooms": lambda: _svmlight("mushrooms", "mushrooms"),
    "sector": lambda: _svmlight("sector", "sector.scale"),
    "news20": _news20,
    "sonar": lambda: _paper(load_sonar),
    "WBC": lambda: _paper(load_wbc),
    "WBC without 11": lambda: _paper(lambda: load_wbc(separable=True)),
    "MNIST 0-1": lambda: _mnist_pair(0, 1),
    "MNIST 4-9": lambda: _mnist_pair(4, 9),
}


@cache
def real(name):
    return REAL[name]()


def separable(n, d, seed=5, gap=0.03, condition=1.0):
    """Gaussian rows without those closer than ``gap`` to a hyperplane; the columns' scales span ``condition``."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    X = rng.standard_normal((n, d))
    s = X @ (w / np.linalg.norm(w))
    kept = np.abs(s) > gap
    return np.ascontiguousarray(X[kept] * np.geomspace(1.0, condition, d)), np.sign(s[kept])


def overlapping(n, d, noise, seed=0, dtype=np.float64):
    """Gaussian rows, labels of a hyperplane through noise: not separable for n much larger than d."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X.astype(dtype), np.sign(X @ rng.standard_normal(d) + noise * rng.standard_normal(n))


def text_like(n, width, per_row, noise=0.0, seed=0):
    """Rows of words whose frequencies follow Zipf's law, of length 1; labels of a hyperplane."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, width + 1)
    columns = rng.choice(width, (n, per_row), p=frequency / frequency.sum())
    X = sp.csr_matrix((np.ones(n * per_row), columns.ravel(), np.arange(0, n * per_row + 1, per_row)), (n, width))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    X = sp.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    score = X @ rng.standard_normal(width)
    return X, np.sign(score - np.median(score) + noise * score.std() * rng.standard_normal(n)).astype(int)
