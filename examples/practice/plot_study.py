"""
Which classifier is better, over many data sets
===============================================

You learn how to read a critical-difference diagram, and what a study of many data sets can and cannot tell.

Every classifier gets a rank on every data set: 1 is the best accuracy, and equal ones share their ranks. The axis shows
the averages of the ranks. A bar joins classifiers whose averages differ by less than the critical difference: these
data sets do not tell them apart. The first picture has ten classifiers that people choose between, fixed before
anything was measured; the second has all of them, where the critical difference is larger, because more pairs are
compared. The accuracies stand in the file ``study.json`` beside this script; ``python -m benchmarks study`` measures
them again.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from separatrix.plots import CriticalDifferenceDisplay

study = json.loads(Path("study.json").read_text())  # in the folder of this script
accuracy = np.array(study["accuracy"])  # data sets x classifiers

# %%
# The short list
# --------------

columns = [study["names"].index(name) for name in study["short_list"]]
CriticalDifferenceDisplay.from_scores(study["short_list"], accuracy[:, columns])
plt.show()

# %%
# All of them
# -----------

CriticalDifferenceDisplay.from_scores(study["names"], accuracy)
plt.show()
