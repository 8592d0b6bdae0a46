"""``separatrix fit``: a certified margin on scikit-learn's breast cancer data."""

import time
import warnings

from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from separatrix.certificate import Certificate
from separatrix.estimators.margin_rules import DynamicMargin

VERDICTS = {
    True: "yes, proved: this hyperplane has every row on its side",
    False: "no, proved: a combination of rows rules every hyperplane out",
    None: "undecided: this hyperplane has rows on the wrong side, and none was ruled out",
}


def fit_breast_cancer(epsilon: float, delta: float, max_epochs: int) -> None:
    data = load_breast_cancer()
    X, y = StandardScaler().fit_transform(data.data), data.target_names[data.target]
    model = DynamicMargin(epsilon, delta=delta, max_epochs=max_epochs)
    clock = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says it
        model.fit(X, y)
    seconds = time.perf_counter() - clock
    certificate = model.certificate_
    verified = certificate.verify(X, y)

    table = Table(title="Breast cancer (569 rows, 30 standardised features): benign or malignant?", show_header=False)
    table.add_row("linearly separable", VERDICTS[certificate.separable])
    table.add_row("margin reached", f"{certificate.lower:.6g}")
    table.add_row("no margin above", f"{certificate.upper:.6g}")
    table.add_row("certified share of the best", _share(certificate))
    table.add_row("geometric margin", f"{model.geometric_margin_:.6g}")
    table.add_row("space", certificate.space.describe())
    table.add_row("rows on their side", f"{round(model.score(X, y) * len(y))} of {len(y)}")
    table.add_row("certificate, recomputed from the data", "holds" if verified else f"FAILS: {verified}")
    table.add_row(
        "ended", f"{model.stop_reason_}: {model.n_updates_:,} updates, {model.n_epochs_:,} epochs, {seconds:.1f} s"
    )
    Console().print(table)


def _share(certificate: Certificate) -> str:
    ratio = certificate.ratio
    return f"{100 * ratio:.2f}%" if ratio is not None and ratio > 0 else "none: the margin is not positive"
