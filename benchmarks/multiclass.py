"""Ten classes of MNIST: one linear machine by an averaged Perceptron, against scikit-learn's one-vs-rest.

    python -m benchmarks.multiclass [--epochs 10] [--rows 60000] [--dtype float64] [--layout dense|csr]

Both run the same number of epochs over the same shuffled data in one thread of one process, after a warm-up on a few
rows; the fit of ours includes its certificate. Printed: seconds, their ratio, and the accuracy on the test data.
"""

import argparse
import gzip
import os
import time
import warnings
from pathlib import Path

from benchmarks.measure import machine, one_thread

one_thread()

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from separatrix import Perceptron


def load_mnist(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images with values from 0 to 1 and their digits, from the original files in $SEPARATRIX_DATA/mnist."""
    folder = Path(os.environ["SEPARATRIX_DATA"]) / "mnist"
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    return X / 255.0, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64"])
    parser.add_argument("--layout", default="dense", choices=["dense", "csr"])
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)

    (X, y), (X_test, y_test) = load_mnist("train"), load_mnist("t10k")
    layout = sp.csr_matrix if args.layout == "csr" else np.ascontiguousarray
    X, X_test = (layout(part.astype(args.dtype)) for part in (X[: args.rows], X_test))
    y = y[: args.rows]
    ours = {
        f"Perceptron(average=True, multi_class={mode!r})": Perceptron(
            average=True, multi_class=mode, max_epochs=args.epochs
        )
        for mode in ("kesler", "ovr", "ovo")
    }
    peer = SGDClassifier(loss="perceptron", average=True, max_iter=args.epochs, tol=None, random_state=0)
    print(machine())
    print(f"MNIST, {X.shape[0]} rows, {args.dtype}, {args.layout}, {args.epochs} epochs")
    times = {}
    for name, model in [("SGDClassifier(loss='perceptron', average=True)", peer), *ours.items()]:
        model.fit(X[:200], y[:200])  # compiled or loaded
        clock = time.perf_counter()
        model.fit(X, y)
        times[name] = time.perf_counter() - clock
        ratio = times["SGDClassifier(loss='perceptron', average=True)"] / times[name]
        print(f"{name:52s} {times[name]:8.2f} s   {ratio:5.2f}x   test accuracy {model.score(X_test, y_test):.4f}")


if __name__ == "__main__":
    main()
