"""
Is there a separating line?
===========================

You learn the four answers that `separability` gives, and what each answer brings along as its proof.

*Separable*: a line has every point strictly on its side. *Weakly separable*: a line has every point on its side or on
the line itself. *Not separable*: some points, with positive weights, combine to zero once the signs of one class are
turned; no line can have all of them on their sides (Gordan's theorem). Those points are ringed. They are few: at most
d + 2, here four.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import separability

rng = np.random.default_rng(4)
left, right = rng.normal(-2, 0.8, (25, 2)), rng.normal(2, 0.8, (25, 2))
touching = np.array([[0, 1], [2, 1.2], [1, 0], [0, 0], [2, 0], [1, -1.0]])
cases = {
    "two clouds": (np.vstack([left, right]), np.repeat([0, 1], 25)),
    "they touch": (touching, np.repeat([0, 1], 3)),
    "overlap": (np.vstack([left + 1.2, right - 1.2]), np.repeat([0, 1], 25)),
    "XOR": (np.array([[1, 1], [-1, -1], [1, -1], [-1, 1.0]]), np.array([1, 1, 0, 0])),
}

figure, axes = plt.subplots(2, 2, figsize=(8, 7))
for ax, (name, (X, y)) in zip(axes.flat, cases.items(), strict=True):
    answer = separability(X, y)
    print(f"{name}: {answer}\n")
    ax.scatter(*X[y == 0].T, marker="o", s=30)
    ax.scatter(*X[y == 1].T, marker="^", s=30)
    if answer.hyperplane is not None:
        w, b = answer.hyperplane.w, answer.hyperplane.b
        foot = -b * w / (w @ w)
        ax.axline(foot, foot + np.array([-w[1], w[0]]), color="k")
    if answer.infeasibility_proof is not None:
        ax.scatter(*X[answer.infeasibility_proof.rows].T, s=160, facecolors="none", edgecolors="k", label="the proof")
        ax.legend(loc="center")
    ax.set(title=f"{name}: {answer.kind}", xticks=[], yticks=[])
plt.show()
