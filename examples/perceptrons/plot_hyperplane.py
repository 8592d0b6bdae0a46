"""
A hyperplane, its distances and its sides
=========================================

You learn how the weights of a linear discriminant are seen in the plane: *w* stands at right angles on the boundary,
*g(x)/|w|* is the signed distance of a point, and *w0/|w|* the distance of the origin.

The projection of a point on the boundary is *x - g(x)/|w|^2 w*. `Hyperplane` computes both.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Hyperplane

w, w0, x = np.array([1.0, 2.0]), -4.0, np.array([3.2, 2.6])
plane = Hyperplane(w, w0)
(distance,) = plane.signed_distance([x])
foot = x - distance * w / np.linalg.norm(w)
nearest = -w0 * w / (w @ w)
print("r =", distance, "and the distance of the origin:", -w0 / np.linalg.norm(w))

figure, ax = plt.subplots(figsize=(6, 5))
along = np.array([-w[1], w[0]])
ax.axline(nearest, nearest + along, color="k", lw=2)
ax.fill([-1, 6, 6, -1], [2.5, -1, 5, 5], color="C1", alpha=0.12, lw=0)
for start, end, colour in ((nearest, nearest + 0.6 * w, "C2"), (foot, x, "C0"), (np.zeros(2), nearest, "0.4")):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour, "lw": 2})
ax.plot(*x, "o", color="C0")
ax.plot(*foot, "o", color="C0", mfc="w")
ax.plot(0, 0, "k+", ms=10)
ax.text(*(x + 0.1), "$x$")
ax.annotate("$x_p$", foot, (5, -16), textcoords="offset points")
ax.text(*((x + foot) / 2 + [0.12, -0.12]), "$r = g(x)/|w|$", color="C0")
ax.text(*(nearest + 0.6 * w + [0.08, 0]), "$w$", color="C2")
ax.text(*(nearest / 2 + [0.1, -0.2]), "$-w_0/|w|$", color="0.3")
ax.text(4.2, 4.3, r"$\mathcal{R}_1$: $g > 0$", color="C1")
ax.text(0.9, -0.7, r"$\mathcal{R}_2$: $g < 0$")
ax.text(4.6, -0.05, "$H$: $g = 0$")
ax.set(xlim=(-1, 6), ylim=(-1, 5), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
plt.show()
