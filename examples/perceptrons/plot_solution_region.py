"""
The Perceptron walks into the solution region
=============================================

You learn how the Perceptron moves: each mistake adds the wrongly classified pattern to the weight vector, until the
vector is inside the cone of all separating vectors.

Every pattern *y* allows the half of the weight space where *a.y* > 0. What all of them allow is the solution region,
a cone. Asking for a margin *b*, *a.y* > *b*, moves its walls inwards: the vector has to go further in, and is safer
there.
"""

import matplotlib.pyplot as plt
import numpy as np

Y = np.array([[2.0, 1.0], [-1.0, 1.4], [1.8, -0.9], [0.2, 1.5], [0.9, 0.1]])  # reflected patterns


def path(b):
    """The single-sample Perceptron with margin b, step by step."""
    a, steps = np.zeros(2), [np.zeros(2)]
    while True:
        wrong = [y for y in Y if a @ y <= b]
        if not wrong:
            return np.array(steps)
        for y in Y:
            if a @ y <= b:
                a = a + y
                steps.append(a)


xs, ys = np.meshgrid(np.linspace(-1.5, 8, 300), np.linspace(-1.5, 8, 300))
least = np.min(Y @ np.stack([xs.ravel(), ys.ravel()]), axis=0).reshape(xs.shape)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True)
for ax, b in zip(axes, (0.0, 2.0), strict=True):
    ax.contourf(xs, ys, least, [b, np.inf], colors=["C2"], alpha=0.25)
    for y in Y:
        point = b * y / (y @ y)
        ax.axline(point, point + np.array([-y[1], y[0]]), color="0.6", lw=0.8)
    steps = path(b)
    ax.plot(*steps.T, "o-", color="C0", ms=5)
    ax.plot(*steps[-1], "*", color="C1", ms=16)
    ax.set(title=f"margin b = {b:g}: {len(steps) - 1} corrections", xlim=(-1.5, 8), ylim=(-1.5, 8), xlabel="$a_1$")
axes[0].set_ylabel("$a_2$")
plt.show()
