"""``separatrix fit``: the maximum margin of scikit-learn's breast cancer data, with its proof."""

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from separatrix.estimators.max_margin import MaxMargin
from separatrix.separable import separability


def fit_breast_cancer(C: float, tol: float) -> None:
    data = load_breast_cancer()
    X, y = StandardScaler().fit_transform(data.data), data.target_names[data.target]
    clock = time.perf_counter()
    answer = separability(X, y)
    model = MaxMargin(C, tol=tol).fit(X, y)
    seconds = time.perf_counter() - clock
    certificate = model.certificate_
    verified = certificate.verify(X, y, exact=True)

    hard = np.isinf(C)
    rows, features = X.shape
    table = Table(
        title=f"Breast cancer ({rows} rows, {features} standardised features): {' or '.join(model.classes_)}?",
        show_header=False,
    )
    table.add_row("linearly separable", str(answer))
    table.add_row("hyperplane", "maximum margin, hard" if hard else f"maximum margin, soft with C = {C:g}")
    table.add_row("margin reached", f"{certificate.lower:.9g}")
    table.add_row("no margin above", f"{certificate.upper:.9g}")
    table.add_row("certified gap", f"{certificate.gap:.1e}")
    table.add_row("space", certificate.space.describe())
    table.add_row("geometric margin", f"{model.geometric_margin_:.9g}")
    table.add_row("support vectors", str(len(model.support_)))
    table.add_row("rows on their side", f"{round(model.score(X, y) * rows)} of {rows}")
    table.add_row("certificate, recomputed from the data", "holds" if verified else f"FAILS: {verified}")
    table.add_row("solver", model.solver_)
    table.add_row("time", f"{seconds:.2f} s, {model.n_passes_:.0f} passes over the data")
    Console().print(table)
