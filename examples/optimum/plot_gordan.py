"""
The proof that nothing separates
================================

You learn what a proof of "no hyperplane" looks like: a few rows, with weights, whose combination is exactly zero.

Turn the sign of one class. If a vector *a* had *a.y* > 0 for every row, it would also be positive on any combination
with positive weights, and so the combination could not be zero. Gordan's theorem says that the reverse holds as well:
where nothing separates, such a combination exists. In the plane it is a point that lies in the hull of either class;
d + 2 rows always suffice. It is checked in rational arithmetic, so rounding cannot spoil it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from separatrix import separability

data = load_iris()
keep = data.target > 0
X, y = data.data[keep][:, 2:], data.target[keep]
answer = separability(X, y)
print(answer)
rows, weight = answer.infeasibility_proof.rows, answer.infeasibility_proof.weight
for row, share in zip(rows, weight, strict=True):
    print(f"row {row}: {X[row].tolist()}, class {data.target_names[y[row]]}, weight {share:.4f}")

figure, ax = plt.subplots(figsize=(7, 4.6))
for k, mark in ((1, "o"), (2, "^")):
    ax.scatter(*X[y == k].T, marker=mark, s=18, alpha=0.5, color=f"C{k - 1}", label=data.target_names[k])
    mine = rows[y[rows] == k]
    ax.plot(*X[mine].T, mark, color=f"C{k - 1}", ms=10, mec="k")
    if len(mine) > 1:
        ax.fill(*X[mine].T, color=f"C{k - 1}", alpha=0.3, ec="k")
    share = weight[y[rows] == k]
    meeting = share @ X[mine] / share.sum()
ax.plot(*meeting, "X", color="k", ms=13, label="a point in both hulls")
ax.set(xlabel=data.feature_names[2], ylabel=data.feature_names[3], title="versicolor and virginica")
ax.legend()
plt.show()
