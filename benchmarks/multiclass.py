"""Ten classes of MNIST, ten epochs: averaged Perceptrons against scikit-learn's one-vs-rest.

Both run the same number of epochs over the same data in one thread, after a warm-up on a few rows; our fit includes its
certificate. The goal is for one linear machine (joint): 3x, and at least the peer's accuracy on the test data.
"""

import functools
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from benchmarks.data import mnist
from benchmarks.race import Row, clock
from separatrix import Perceptron


def parts(small):
    if small:
        X, y = load_digits(return_X_y=True)
        return (X[:300], y[:300]), (X[300:600], y[300:600])
    return mnist("train"), mnist("t10k")


def measure(small):
    epochs = 2 if small else 10
    (X, y), (X_test, y_test) = parts(small)
    layouts = {
        "dense float64": lambda A: np.ascontiguousarray(A, dtype=np.float64),
        "dense float32": lambda A: np.ascontiguousarray(A, dtype=np.float32),
        "CSR float64": lambda A: sp.csr_matrix(np.asarray(A, dtype=np.float64)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, layout in layouts.items():
            train, test = layout(X), layout(X_test)
            peer = SGDClassifier(loss="perceptron", average=True, max_iter=epochs, tol=None, random_state=0)
            other = clock(functools.partial(peer.fit, train, y), 1)
            theirs = peer.score(test, y_test)
            for mode in ("joint", "ovr", "ovo"):
                model = Perceptron(average=True, until="separated", multi_class=mode, max_iter=epochs).fit(
                    train[:200], y[:200]
                )
                timing = clock(functools.partial(model.fit, train, y), 1)
                ours = model.score(test, y_test)
                note = f"accuracy {ours:.4f} against {theirs:.4f}"
                goal = 3.0 if mode == "joint" else None
                value = other.seconds / timing.seconds
                if mode == "joint" and ours < theirs:
                    value, note = 0.0, note + ": not as accurate"
                yield Row(f"{name}, {mode}", timing, {"SGDClassifier": other}, goal, value=value, note=note)
