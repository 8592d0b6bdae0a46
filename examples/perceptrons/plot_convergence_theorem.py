"""
Novikoff's theorem, seen
========================

You learn why the Perceptron ends: one quantity has to grow like the number *t* of updates, another cannot grow faster
than its square root, and the first can never exceed the second.

Along a best direction *u* every update brings at least the margin: *a.u* >= *t gamma*. The length cannot follow,
because updates happen only at mistakes: \\|a\\| <= *R sqrt(t)*. Where the two lines cross, it must be over: *t* <=
*(R/gamma)^2*. Right: the bound and what really happens, on a hundred random data sets.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MaxMargin, Perceptron, bounds

rng = np.random.default_rng(0)


def separable_rows(n, d, gap):
    """Gaussian rows of two classes with at least the given distance from a random hyperplane."""
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X += np.outer(np.sign(X @ w) * gap, w)
    return X, (X @ w > 0).astype(int)


X, y = separable_rows(80, 2, 0.005)
Y = (2 * y - 1)[:, None] * np.column_stack([X, np.ones(len(X))])
best = MaxMargin(C=np.inf).fit(X, y)
u, gamma, R = best.certificate_.direction, best.certificate_.lower, best.certificate_.radius
u = u / np.linalg.norm(u)
a, lengths, along, wrong = np.zeros(3), [0.0], [0.0], True
while wrong:
    wrong = False
    for row in Y:
        if a @ row <= 0:
            a, wrong = a + row, True
            lengths.append(np.linalg.norm(a))
            along.append(a @ u)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
t = np.linspace(0, min((R / gamma) ** 2 * 1.15, 4 * len(lengths)), 400)
left.plot(t, R * np.sqrt(t), color="C1", label="upper: R sqrt(t)")
left.plot(t, gamma * t, color="C0", label="lower: t gamma")
left.plot(lengths, color="C1", ls=":", label="|a|")
left.plot(along, color="C0", ls=":", label="a.u")
left.plot(len(lengths) - 1, lengths[-1], "k*", ms=13, label="the end")
left.set(xlabel="updates t", title="one run")
left.legend()

promised, made = [], []
for _ in range(100):
    X, y = separable_rows(rng.integers(10, 200), rng.integers(2, 10), 10 ** rng.uniform(-2, 0))
    certificate = MaxMargin(C=np.inf).fit(X, y).certificate_
    promised.append(bounds.novikoff(certificate.radius, certificate.lower))
    made.append(max(Perceptron(max_iter=100_000, until="separated").fit(X, y).n_updates_, 1))
right.loglog(promised, made, "o", ms=4, alpha=0.7)
right.plot([1, max(promised)], [1, max(promised)], "k--", label="the bound")
right.set(xlabel="the theorem: (R/gamma)$^2$", ylabel="updates made", title="a hundred runs, all below the bound")
right.legend()
plt.show()
