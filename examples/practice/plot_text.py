"""
Which library does this sentence come from?
===========================================

You learn to classify text: words become a sparse matrix, the separator stays linear, and its largest weights say
which words decide.

The texts are the docstrings of NumPy and SciPy, which every installation has. `MaxMargin` takes the sparse matrix as
it is; nothing is made dense.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from separatrix import MaxMargin

texts, names = [], []
for name, module in {"numpy": np, "stats": scipy.stats, "signal": scipy.signal, "optimize": scipy.optimize}.items():
    for _, member in inspect.getmembers(module, callable):
        summary = (inspect.getdoc(member) or "").split("\n\n")
        if len(summary) > 2:
            texts.append(" ".join(summary[:3]))
            names.append("numpy" if name == "numpy" else "scipy")

words = TfidfVectorizer(min_df=4, token_pattern=r"[a-z]{4,}", stop_words=["numpy", "scipy"])
X, new_X, y, new_y = train_test_split(words.fit_transform(texts), names, test_size=0.3, random_state=0)
model = MaxMargin(C=1.0).fit(X, y)
print(f"{X.shape[0]} texts, {X.shape[1]} words, accuracy on new texts {model.score(new_X, new_y):.1%}")

weights, vocabulary = model.coef_[0], words.get_feature_names_out()
chosen = np.concatenate([np.argsort(weights)[:12], np.argsort(weights)[-12:]])
figure, ax = plt.subplots(figsize=(6.4, 5.4))
ax.barh(vocabulary[chosen], weights[chosen], color=np.where(weights[chosen] < 0, "C0", "C1"))
ax.axvline(0, color="k", lw=0.8)
ax.set(xlabel="weight", title="words that speak for numpy (left) and for scipy (right)")
plt.show()
