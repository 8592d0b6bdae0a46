"""
A line becomes a parabola
=========================

You learn how a linear discriminant of mapped features cuts one axis into three pieces.

The map *y = (1, x, x^2)* bends the line into a parabola. The plane *a.y = 0* with *a = (-1, 1, 2)* cuts it twice, so
*g(x) = -1 + x + 2 x^2* is positive for *x < -1* and for *x > 0.5*: the region of the first class has two pieces,
though in the space of the *y* it is half of the space.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron

x = np.linspace(-2.2, 1.7, 79)
g = -1 + x + 2 * x**2
model = Perceptron(until="separated").fit(np.column_stack([x, x**2]), g > 0)
print("training accuracy of a Perceptron on (x, x^2):", model.score(np.column_stack([x, x**2]), g > 0))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
for positive, colour, marker in ((True, "C1", "^"), (False, "C0", "o")):
    rows = (g > 0) == positive
    left.scatter(x[rows], np.zeros(rows.sum()), c=colour, marker=marker, s=14)
    right.scatter(x[rows], x[rows] ** 2, c=colour, marker=marker, s=14)
left.plot(x, g, "k", lw=1)
left.axhline(0, color="0.6", lw=0.8)
for root in (-1.0, 0.5):
    left.axvline(root, color="C2", ls="--")
left.set(title="on the line: $g(x) = -1 + x + 2x^2$", xlabel="$x$", ylim=(-2, 6))
right.axline((0, 0.5), slope=-0.5, color="C2", ls="--", label="$-1 + y_2 + 2 y_3 = 0$")
right.set(title="in the space of $y = (1, x, x^2)$", xlabel="$y_2 = x$", ylabel="$y_3 = x^2$")
right.legend(loc="upper center")
plt.show()
