"""
Ten digits by one machine
=========================

You learn to train a linear machine by Kesler's construction and to look into it: one weight vector per digit, drawn
as a picture.

A correction adds the row to the vector of its digit and takes it from that of its strongest rival. The pictures show
what speaks for each digit (violet) and against it (orange). One certificate covers all ten classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from separatrix import DynamicMargin

data = load_digits()
X, new_X, y, new_y = train_test_split(data.data / 16, data.target, test_size=0.3, random_state=0)
model = DynamicMargin(epsilon=0.3, multi_class="joint", max_iter=5000, until="separated").fit(X, y)
print(model.certificate_)
print(f"accuracy on new digits: {model.score(new_X, new_y):.1%}")

figure, axes = plt.subplots(2, 5, figsize=(9, 4))
limit = np.abs(model.coef_).max()
for digit, ax in enumerate(axes.flat):
    ax.imshow(model.coef_[digit].reshape(8, 8), cmap="PuOr", vmin=-limit, vmax=limit)
    ax.set(title=str(digit), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
plt.show()
