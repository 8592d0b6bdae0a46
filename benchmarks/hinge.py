"""The 1-norm soft margin: time to a gap (P - D)/P of 1e-3, ours against every peer at every tolerance.

    P = |a|^2/2 + C sum xi, D = sum alpha - |sum alpha y|^2/2 from our multipliers, both computed here in float64

Linear: the bias is part of |a|. With a Gaussian kernel it is free, as SVC has it.
"""

import functools
import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import peers
from benchmarks.objective import hinge_bound, hinge_gap, kernel_hinge_gap
from benchmarks.race import Row, clock, first_that_reaches
from benchmarks.soft_margin import TARGET, cases, means
from separatrix import KernelMaxMargin, MaxMargin

CS = (0.1, 1.0, 10.0, 1000.0)
KERNEL_SIZES = (2000, 5000, 10_000, 20_000)
KERNEL_CS = (0.1, 1.0, 100.0)
GAMMA = 0.02


def measure(small):
    limit = 2.0 if small else 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [*linear(small, limit), *kernels(small, 4.0 * limit)]
        yield from rows
        yield from means(rows, limit)


def linear(small, limit):
    for name, (X, y) in cases(small):
        MaxMargin(1.0, loss="hinge", tol=TARGET).fit(X, y)  # compiles
        for C in CS:
            model = MaxMargin(C, loss="hinge", tol=TARGET)
            timing = clock(functools.partial(model.fit, X, y))
            alpha = np.minimum(np.abs(model.dual_coef_[0]), C)
            signed = alpha * y[model.support_]
            combination = np.append(np.ravel(X[model.support_].T @ signed), signed.sum())
            bound = hinge_bound(alpha.sum(), combination @ combination)
            judge = functools.partial(hinge_gap, X, y, C, bound)
            timing.reached = judge(np.append(model.coef_[0], model.intercept_))
            others = {p: first_that_reaches(r, judge, TARGET, limit) for p, r in peers.hinge(X, y, C).items()}
            yield Row(f"{name}, C = {C:g}", timing, others, 1.0)


def kernels(small, limit):
    kernel = functools.partial(rbf_kernel, gamma=GAMMA)
    for n in (1600,) if small else KERNEL_SIZES:
        X, y = make_classification(n, 20, n_informative=10, flip_y=0.05, random_state=0)
        y = np.where(y == 1, 1.0, -1.0)
        for C in KERNEL_CS[:1] if small else KERNEL_CS:
            model = KernelMaxMargin(C, loss="hinge", gamma=GAMMA, tol=TARGET)
            model.fit(X[:1600], y[:1600])  # compiles
            timing = clock(functools.partial(model.fit, X, y), 3)
            beta = np.clip(model.dual_coef_[0], -C, C)
            square = float(beta @ kernel(X[model.support_]) @ beta)
            judge = functools.partial(kernel_hinge_gap, kernel, X, y, C, hinge_bound(np.abs(beta).sum(), square))
            timing.reached = judge((model.support_, model.dual_coef_[0], model.intercept_[0]))
            runs = peers.kernel_hinge(X, y, C, GAMMA).items()
            others = {peer: first_that_reaches(r, judge, TARGET, limit) for peer, r in runs}
            yield Row(f"rbf {n:,} x 20, C = {C:g}", timing, others, 1.0)
