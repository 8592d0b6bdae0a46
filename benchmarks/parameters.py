"""How the defaults of the online estimators were chosen: cross-validated accuracy on standardised data, by parameter.

    python -m benchmarks.parameters [ESTIMATOR ...]

Nine data sets (breast cancer, iris, wine, sonar, WBC, blobs, made-up classes, two pairs of digits), five folds, 200
epochs. Printed for each setting: the mean accuracy, how many of the nine fits converge, and the certified share of the
best margin on those that are separable.
"""

import itertools
import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs, make_classification
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix
from separatrix.reproductions.datasets import load_sonar, load_wbc

GRIDS = {
    "CRAMMA": {"beta": [0.3, 1.0, 3.0], "eta0": [0.003, 0.01, 0.03, 0.1]},
    "MICRA": {"beta": [0.3, 1.0, 3.0], "decay": [0.25, 0.5, 0.9], "eta0": [0.1, 1.0]},
    "ALMA": {"alpha": [0.3, 0.5, 0.7, 0.9, 0.99]},
    "DynamicMargin": {"epsilon": [0.1, 0.3, 0.5, 0.7, 0.9]},
    "FixedMargin": {"beta": [0.0, 0.01], "eta": [0.001, 0.01, 0.1, 0.5]},
    "PassiveAggressive": {"C": [0.01, 0.1, 1.0], "variant": ["I", "II"]},
    "Relaxation": {"eta": [0.3, 1.0, 1.5]},
    "ROMMA": {"aggressive": [False, True]},
    "FuzzyPerceptron": {"m": [1.0, 2.0], "fuzz": [0.01, 0.05, 0.1], "c": [1.0, 2.0, 5.0]},
    "MarginFuzzyPerceptron": {"width": [0.0, 0.1, 0.3, 0.5, 1.0]},
    "BalancedWinnow": {"alpha": ["auto", 1.001, 1.01]},
    "LMS": {"eta": [0.1, 0.3, 1.0, 1.9]},
    "Pocket": {"variant": ["run", "ratchet"]},
}


def data_sets():
    X, y = load_digits(return_X_y=True)
    yield from (loader(return_X_y=True) for loader in (load_breast_cancer, load_iris, load_wine))
    yield from (load_sonar(), load_wbc(), make_blobs(300, random_state=0))
    yield make_classification(1000, 20, n_informative=5, flip_y=0.05, random_state=0)
    yield from ((X[np.isin(y, pair)], y[np.isin(y, pair)]) for pair in ((0, 1), (3, 8)))


def main() -> None:
    warnings.simplefilter("ignore")
    sets = list(data_sets())
    print("| estimator | setting | mean accuracy | converged | certified share |\n|---|---|---|---|---|")
    for name in sys.argv[1:] or GRIDS:
        for values in itertools.product(*GRIDS[name].values()):
            setting = dict(zip(GRIDS[name], values, strict=True))
            model = getattr(separatrix, name)(until="separated", max_iter=200, **setting)
            scores, ends, shares = [], 0, []
            for X, y in sets:
                scores.append(cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=5).mean())
                fitted = model.fit(StandardScaler().fit_transform(X), y)
                ends += fitted.converged_
                if fitted.certificate_.separable and fitted.certificate_.ratio is not None:
                    shares.append(fitted.certificate_.ratio)
            share = f"{np.mean(shares):.2f}" if shares else ""
            print(f"| {name} | {setting} | {np.mean(scores):.4f} | {ends} | {share} |", flush=True)


if __name__ == "__main__":
    main()
