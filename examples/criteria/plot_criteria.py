"""
Four criteria over the weight space
===================================

You learn what gradient descent sees: the landscape of each criterion for the same three patterns.

The number of errors is piecewise constant: its slope is zero almost everywhere, and nothing can descend on it. The
Perceptron criterion *J_p* is piecewise linear. The quadratic criterion *J_q* is smooth, but so flat near the solution
region that it may end on its border. Relaxation, *J_r*, asks for a margin and divides by the length of the patterns.
Squared error, *J_s*, looks at all patterns, right or wrong, and has one minimum, which need not be in the solution
region (hatched).
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix.theory import PerceptronCriterion, QuadraticCriterion, RelaxationCriterion, SquaredErrorCriterion

Y = np.array([[1.5, 0.3], [-0.9, 1.3], [1.6, -1.0]])
grid = np.linspace(-2, 4, 161)
xs, ys = np.meshgrid(grid, grid)
vectors = np.stack([xs.ravel(), ys.ravel()], axis=1)
inside = np.min(vectors @ Y.T, axis=1).reshape(xs.shape)


def of(criterion):
    """J(a) over the grid: the sum of the losses of the three patterns."""
    return criterion.losses(vectors @ Y.T, np.sum(Y**2, axis=1)).sum(axis=1)


panels = {
    "number of errors": np.sum(vectors @ Y.T <= 0, axis=1),
    "J_p, Perceptron": of(PerceptronCriterion()),
    "J_q, quadratic, b = 0": of(QuadraticCriterion(margin=0.0)),
    "J_r, relaxation, b = 1": of(RelaxationCriterion(margin=1.0)),
    "J_s, squared error, b = 1": of(SquaredErrorCriterion(margin=1.0)),
}
figure, axes = plt.subplots(1, 5, figsize=(14, 3.4), sharey=True)
for ax, (name, values) in zip(axes, panels.items(), strict=True):
    values = values.reshape(xs.shape).astype(float)
    ax.contourf(xs, ys, np.sqrt(values), 20, cmap="cividis")
    ax.contourf(xs, ys, inside, [0, np.inf], colors="none", hatches=["//"])
    ax.set(title=name, xlabel="$a_1$")
axes[0].set_ylabel("$a_2$")
plt.show()
