"""Memory of a fit on top of its data, as numpy allocates it.  python -m benchmarks.memory"""

from benchmarks.measure import machine, one_thread

one_thread()

import tracemalloc
import warnings

import numpy as np

from benchmarks.hard_margin import separable
from separatrix import MaxMargin, Perceptron


def peak(model, X, y) -> float:
    """Bytes that a fit allocates at once, divided by those of X."""
    tracemalloc.start()
    model.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / X.nbytes


def main() -> None:
    warnings.simplefilter("ignore")
    print(machine(), "\n")
    print("| data | fit | peak / size of X |\n|---|---|---|")
    X, y = separable(1_000_000, 50)
    for data in (X, X.astype(np.float32)):
        for name, model in (
            ("MaxMargin(inf)", MaxMargin(np.inf)),
            ("MaxMargin(1.0)", MaxMargin(1.0)),
            ("Perceptron(max_epochs=3)", Perceptron(max_epochs=3)),
        ):
            print(
                f"| {data.shape[0]} x {data.shape[1]} {data.dtype} | {name} | {peak(model, data, y):.2f} |", flush=True
            )


if __name__ == "__main__":
    main()
