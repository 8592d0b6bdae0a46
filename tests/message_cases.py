"""Sixty mistakes that users make, each with the words that its message has to contain."""

import numpy as np
import scipy.sparse as sp

import separatrix as sx
from separatrix import data, dropin

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
Y = np.array([0, 0, 1, 1])


def changed(value, row=1, column=0):
    rows = X.copy()
    rows[row, column] = value
    return rows


FITTED = sx.MaxMargin().fit(X, Y)
CERTIFICATE = FITTED.certificate_

PYTHON = {  # in Python: what is called, and what the message says
    "NaN": (lambda: sx.MaxMargin().fit(changed(np.nan), Y), "NaN"),
    "infinity": (lambda: sx.Perceptron().fit(changed(np.inf), Y), "inf"),
    "one class": (lambda: sx.MaxMargin().fit(X, [1, 1, 1, 1]), "class"),
    "no rows": (lambda: sx.MaxMargin().fit(X[:0], Y[:0]), "0 sample"),
    "lengths": (lambda: sx.MaxMargin().fit(X, Y[:3]), "inconsistent numbers of samples"),
    "one dimension": (lambda: sx.MaxMargin().fit(X[0], Y), "2D array"),
    "three dimensions": (lambda: sx.MaxMargin().fit(X[None], Y), "dim 3"),
    "strings": (lambda: sx.MaxMargin().fit([["a", "b"]] * 4, Y), "not numeric"),
    "complex": (lambda: sx.MaxMargin().fit(X + 1j, Y), "omplex"),
    "fractions as labels": (lambda: sx.MaxMargin().fit(X, [0.1, 0.2, 0.7, 0.9]), "continuous"),
    "C = 0": (lambda: sx.MaxMargin(C=0).fit(X, Y), "'C' parameter of MaxMargin"),
    "C as a string": (lambda: sx.MaxMargin(C="1").fit(X, Y), "'C' parameter of MaxMargin"),
    "loss": (lambda: sx.MaxMargin(loss="log").fit(X, Y), "'loss' parameter of MaxMargin"),
    "solver": (lambda: sx.MaxMargin(solver="sgd").fit(X, Y), "'solver' parameter of MaxMargin"),
    "tol": (lambda: sx.MaxMargin(tol=-1.0).fit(X, Y), "'tol' parameter of MaxMargin"),
    "not separable": (lambda: sx.MaxMargin(C=np.inf).fit([[0.0], [1.0], [2.0]], [0, 1, 0]), "C"),
    "not fitted": (lambda: sx.MaxMargin().predict(X), "not fitted"),
    "columns": (lambda: FITTED.predict(X[:, :1]), "1 features, but MaxMargin is expecting 2"),
    "predict_proba": (lambda: FITTED.predict_proba(X), "MaxMarginCV"),
    "weights": (lambda: sx.MaxMargin().fit(X, Y, sample_weight=[1, 1, 1]), "sample_weight"),
    "negative weight": (lambda: sx.MaxMargin().fit(X, Y, sample_weight=[1, 1, 1, -1]), "egative"),
    "weights are 0": (lambda: sx.MaxMargin().fit(X, Y, sample_weight=[0, 0, 0, 0]), "weight"),
    "class_weight": (lambda: sx.MaxMargin(class_weight={5: 1.0}).fit(X, Y), "class"),
    "huge numbers": (lambda: sx.MaxMargin().fit(changed(1e200), Y), "overflow"),
    "max_iter": (lambda: sx.Perceptron(max_iter=0).fit(X, Y), "'max_iter' parameter of Perceptron"),
    "eta": (lambda: sx.Perceptron(eta=-1.0).fit(X, Y), "'eta' parameter of Perceptron"),
    "until": (lambda: sx.Perceptron(until="end").fit(X, Y), "'until' parameter of Perceptron"),
    "multi_class": (lambda: sx.AROW(multi_class="joint").fit(X, [0, 1, 2, 2]), "ovr"),
    "partial_fit classes": (lambda: sx.Perceptron().partial_fit(X, Y), "classes"),
    "partial_fit of Pocket": (lambda: sx.Pocket().partial_fit(X, Y), "partial_fit"),
    "joint hard margin": (
        lambda: sx.MaxMargin(multi_class="joint", fit_intercept="unpenalized").fit(X, [0, 1, 2, 2]),
        "intercept",
    ),
    "kernel": (lambda: sx.KernelMaxMargin(kernel="gauss").fit(X, Y), "gauss"),
    "gamma": (lambda: sx.KernelMaxMargin(gamma=-1.0).fit(X, Y), "'gamma' parameter of KernelMaxMargin"),
    "own kernel": (lambda: sx.KernelMaxMargin(kernel=lambda A, B: A).fit(X, Y), "shape"),
    "NearestPoint": (lambda: sx.NearestPoint(method="simplex").fit(X, Y), "'method' parameter of NearestPoint"),
    "LinearProgram": (lambda: sx.LinearProgram("l3").fit(X, Y), "l3"),
    "fewest_errors of one class": (lambda: sx.fewest_errors(X, [1, 1, 1, 1]), "2 classes"),
    "max_time": (lambda: sx.separability(X, Y, max_time=0), "max_time"),
    "negative_margin of three": (lambda: sx.negative_margin(X, [0, 1, 2, 2]), "classes"),
    "verify without labels": (lambda: CERTIFICATE.verify(X), "verify(X, y)"),
    "verify other columns": (lambda: CERTIFICATE.verify(X[:, :1], Y), "feature"),
    "certificate from text": (lambda: sx.Certificate.from_json("{"), "JSON"),
    "certificate field": (lambda: sx.Certificate.from_json('{"foo": 1}'), "certificate"),
    "radius norm": (lambda: FITTED.radius(X, norm=3), "norm"),
    "save unfitted": (lambda: sx.save(sx.MaxMargin(), "m.sx"), "fit"),
    "load nothing": (lambda: sx.load("nothing.sx"), "nothing.sx"),
    "export format": (lambda: sx.export(FITTED, "m.pmml"), ".onnx"),
    "no such file": (lambda: data.open_files("nothing-*.csv", target="y"), "nothing-"),
    "memory": (lambda: data.open_files("x.csv", target="y", memory="1 gig"), "1 gig"),
    "row source and y": (lambda: sx.MaxMargin().fit(data.from_blocks([(X, Y)]), Y), "row source"),
    "checkpoint in memory": (lambda: sx.MaxMargin(checkpoint="c").fit(X, Y), "open_files"),
    "out of core": (lambda: sx.KernelMaxMargin().fit(data.from_blocks([(X, Y)])), "memory"),
    "empty block": (lambda: sx.MaxMargin().fit(data.from_blocks([])), "rows"),
    "hyperplane": (lambda: sx.Hyperplane([0.0, 0.0], 1.0), "normal vector"),
    "drop-in penalty": (lambda: dropin.LinearSVC(penalty="l3").fit(X, Y), "penalty"),
    "sparse with NaN": (lambda: sx.MaxMargin().fit(sp.csr_array(changed(np.nan)), Y), "NaN"),
    "coef_init": (lambda: sx.Perceptron().fit(X, Y, coef_init=[1.0]), "coef_init"),
    "positive": (lambda: sx.MaxMargin(positive=[1, 1, 1]).fit(X, Y), "positive"),
    "theory": (lambda: sx.theory.design_matrix(X, Y, rho=-1.0), "rho"),
    "bound": (lambda: sx.callbacks.MarginTrace(factor=0.5), "factor"),
}
