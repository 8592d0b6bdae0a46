"""Models whose parts were exchanged: their proof is not about what predicts, and `separatrix verify` says so."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from separatrix import DataError, KernelMaxMargin, MaxMargin, ModelError, VotedPerceptron, load, save
from separatrix.app.workflows import verifying
from separatrix.passes.kernel_patterns import Kernel

INF = math.inf
LINE, SIDES = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])


def judged(folder, model, X, y, apart=False, **changes):
    """Whether `separatrix verify` says that a file holds with attributes changed."""
    for name, value in changes.items():
        setattr(model, name, value)
    path, data = folder / "m.sx", folder / "d.npz"
    save(model, path)
    np.savez(data, X=X, y=y)
    return verifying.verify(path, data, independent=apart).holds


def test_a_model_that_predicts_one_class(tmp_path):
    for offset in (1e8, 1e10):
        model = MaxMargin(INF, fit_intercept="unpenalized", tol=0.01).fit(LINE + offset, SIDES)
        assert judged(tmp_path, model, LINE + offset, SIDES)
        assert judged(tmp_path, model, LINE + offset, SIDES, apart=True)
        assert not judged(tmp_path, model, LINE + offset, SIDES, coef_=-model.coef_)
        assert not judged(tmp_path, model, LINE + offset, SIDES, apart=True)


@pytest.mark.parametrize("factor", [2.0**700, 2.0**-700])
def test_lengths_that_overflow_or_vanish(tmp_path, factor):
    model = MaxMargin(INF).fit(LINE, SIDES)
    (own,) = model.certificates_
    scaled = replace(own, direction=own.direction * factor)
    changes = {"certificates_": [scaled], "certificate_": scaled}
    fields = {"coef_": -model.coef_ * factor, "intercept_": -model.intercept_ * factor}
    assert not judged(tmp_path, model, LINE, SIDES, **changes, **fields)


def test_certificates_that_are_not_those_of_the_model(tmp_path):
    model = MaxMargin(INF).fit(LINE, SIDES)
    own = model.certificate_
    false = replace(own, upper=1e-9, lower=None, direction=None)
    assert judged(tmp_path, model, LINE, SIDES)
    assert not judged(
        tmp_path, MaxMargin(INF).fit(LINE, SIDES), LINE, SIDES, certificates_=[false, own], certificate_=own
    )
    shown = replace(own, lower=100.0, upper=100.0)
    assert not judged(tmp_path, MaxMargin(INF).fit(LINE, SIDES), LINE, SIDES, certificate_=shown)
    assert not judged(tmp_path, MaxMargin(INF).fit(LINE, SIDES), LINE, SIDES, classes_=model.classes_[::-1].copy())


THREE = np.array([[0.0, 0], [1, 0], [0, 1], [9, 0], [8, 1], [9, 1], [0, 9], [1, 8], [1, 9]])
CLASSES = np.repeat(["a", "b", "c"], 3)


@pytest.mark.parametrize("mode", ["ovo", "ovr", "joint"])
def test_classes_pairs_and_modes(tmp_path, mode):
    def fitted():
        return MaxMargin(INF, multi_class=mode).fit(THREE, CLASSES)

    assert judged(tmp_path, fitted(), THREE, CLASSES)
    model = fitted()
    assert not judged(tmp_path, fitted(), THREE, CLASSES, classes_=model.classes_[::-1].copy())
    for other in {"ovo", "ovr", "joint"} - {mode}:
        assert not judged(tmp_path, fitted(), THREE, CLASSES, multi_class_=other)
    if mode != "joint":
        turned = {"coef_": model.coef_[::-1].copy(), "intercept_": model.intercept_[::-1].copy()}
        assert not judged(tmp_path, fitted(), THREE, CLASSES, certificates_=model.certificates_[::-1], **turned)
    if mode == "ovo":
        once = {"coef_": model.coef_[[0] * 3], "intercept_": model.intercept_[[0] * 3]}
        assert not judged(tmp_path, fitted(), THREE, CLASSES, certificates_=[model.certificates_[0]] * 3, **once)


def test_classes_of_any_name(tmp_path):
    """Names say nothing about what a certificate is about, and may read the same."""
    rest = np.array(["the rest", "the rest", "x", "x"])
    assert judged(tmp_path, MaxMargin(INF).fit(LINE, rest), LINE, rest)
    model = MaxMargin(INF).fit(LINE, rest)
    (own,) = model.certificates_
    turned = replace(own, direction=-own.direction)
    flipped = {
        "coef_": -model.coef_,
        "intercept_": -model.intercept_,
        "certificates_": [turned],
        "certificate_": turned,
    }
    assert not judged(tmp_path, model, LINE, rest, **flipped)
    names = np.repeat(["x", "y against x", "z", "z against y"], 2)
    X = np.array([[0.0, 0], [1, 0], [9, 0], [9, 1], [0, 9], [1, 9], [9, 9], [9, 8]])
    model = MaxMargin(INF, multi_class="ovo").fit(X, names)
    assert judged(tmp_path, model, X, names)
    X[0] = [9, 9]
    assert not judged(tmp_path, model, X, names)


def test_classes_that_are_equal_and_read_otherwise(tmp_path):
    model = MaxMargin(INF).fit(LINE, SIDES)
    for classes in (np.array([0, 1, True], dtype=object), np.array(["a", "a", "b"])):
        model.classes_ = classes
        save(model, tmp_path / "m.sx")
        table = tmp_path / "d.csv"
        words = [str(c) for c in classes.tolist()] + [str(classes[1])]
        table.write_text("x,y\n" + "".join(f"{x},{w}\n" for x, w in zip(LINE.ravel(), words, strict=True)))
        try:
            assert not verifying.verify(tmp_path / "m.sx", table, target="y").holds
        except (DataError, ModelError):
            continue


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_kernel_models_predict_by_what_is_proved(tmp_path, kernel):
    def fitted():
        return KernelMaxMargin(C=INF, kernel=kernel, gamma=1.0).fit(LINE, SIDES)

    def holds(**changes):
        model = fitted()
        for name, value in changes.items():
            setattr(model, name, value)
        save(model, tmp_path / "m.sx")
        np.savez(tmp_path / "d.npz", X=LINE, y=SIDES)
        return verifying.verify(tmp_path / "m.sx", tmp_path / "d.npz").holds

    model = fitted()
    assert holds()
    assert not holds(dual_coef_=-model.dual_coef_, intercept_=-model.intercept_)
    assert not holds(support_vectors_=model.support_vectors_ + 1.0)
    assert not holds(intercept_=model.intercept_ + 3.0)
    assert not holds(_kernel_=Kernel("rbf", 7.0))


def test_models_that_predict_by_something_else(tmp_path):
    from sklearn.model_selection import GridSearchCV

    right = MaxMargin(INF).fit(LINE, SIDES)
    wrong = MaxMargin(INF).fit(LINE, SIDES[::-1])
    wrong.steps = [("x", right)]
    assert not judged(tmp_path, wrong, LINE, SIDES)
    voted = VotedPerceptron(max_iter=20).fit(LINE, SIDES)
    save(voted, tmp_path / "m.sx")
    found = verifying.verify(tmp_path / "m.sx", tmp_path / "d.npz")
    assert any("Nothing is proved of what predicts" in note for note in found.notes)
    search = GridSearchCV(MaxMargin(), {"C": [1.0]}, cv=2).fit(LINE, SIDES[::-1])
    search.certificates_, search.certificate_ = right.certificates_, right.certificate_
    try:
        save(search, tmp_path / "m.sx")
    except ModelError:
        return
    assert not verifying.verify(tmp_path / "m.sx", tmp_path / "d.npz").holds


def test_versions_and_fields_of_model_files(tmp_path):
    from safetensors.numpy import save as pack

    from separatrix.persistence.encoding import encode
    from separatrix.persistence.files import _digest

    arrays = {}
    text = json.dumps({"model": encode(MaxMargin().fit(LINE, SIDES), arrays), "provenance": {}})
    twice = text.replace('"lower":', '"lower": 99.0, "lower":', 1)
    assert twice != text
    for version, document in (("²", text), ("2", twice)):
        printed = {"format": "separatrix", "format_version": version, "document": document}
        (tmp_path / "m.sx").write_bytes(pack(arrays, {**printed, "digest": _digest(document, arrays)}))
        with pytest.raises(ModelError):
            load(tmp_path / "m.sx")
