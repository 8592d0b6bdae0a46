"""
A linear classifier as a unit
=============================

You learn what a fitted separator computes, drawn as a neuron: every feature is multiplied by its weight, a
constant input by the bias, the products are summed, and the sign of the sum decides (Duda, Hart and Stork, figure 5.1).

The numbers are those of a Perceptron that tells one kind of iris from the others, and of the first flower.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from separatrix import Perceptron

iris = load_iris()
model = Perceptron(shuffle=False, until="separated").fit(iris.data, iris.target == 0)
flower = iris.data[0]
inputs = [("constant", 1.0, model.intercept_[0]), *zip(iris.feature_names, flower, model.coef_[0], strict=True)]

figure, ax = plt.subplots(figsize=(8, 4.2))
for height, (name, value, weight) in enumerate(reversed(inputs)):
    ax.plot([0, 2], [height, 2], color="C0" if weight >= 0 else "C1", lw=0.5 + 0.5 * abs(weight), zorder=1)
    ax.scatter(0, height, s=900, color="white", edgecolor="k", zorder=2)
    ax.text(0, height, f"{value:g}", ha="center", va="center", zorder=3)
    ax.text(-0.25, height, name, ha="right", va="center")
    ax.text(0.8, height + 0.4 * (2 - height), f"{weight:+.3g}", ha="center", va="bottom", fontsize=9)
total = float(model.decision_function(flower[None])[0])
ax.scatter(2, 2, s=2500, color="white", edgecolor="k", zorder=2)
ax.text(2, 2, f"sum\n{total:+.3g}", ha="center", va="center", zorder=3)
ax.annotate("> 0: this kind" if total > 0 else "< 0: another kind", (3.5, 2), (2.3, 2), va="center",
            arrowprops={"arrowstyle": "-"})  # fmt: skip
ax.set(xlim=(-1.6, 3.6), ylim=(-0.6, 4.6))
ax.axis("off")
plt.show()

# %%
# The same sum in one line:
print(float(flower @ model.coef_[0] + model.intercept_[0]) == total)
