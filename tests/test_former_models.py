"""Models in former file formats (release 0.1.0; 2: names before 0.2) load, predict as they did, verify, and go on."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from separatrix import Perceptron, load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FOLDERS = [Path(__file__).parent / name for name in ("models_0_1_0", "models_format_2")]
X, SPECIES = load_iris(return_X_y=True)


def labels_of(name, model):
    """What the model was fitted to when it was saved."""
    if name == "pipe":
        return SPECIES == 1
    if name == "ovr":
        return np.array(["se", "ve", "vi"])[SPECIES]
    return SPECIES == 0 if len(model.classes_) == 2 else SPECIES


@pytest.mark.parametrize("file", [f for folder in FOLDERS for f in sorted(folder.glob("*.sx"))], ids=lambda f: f.stem)
def test_a_former_model_is_what_it_was(file, tmp_path):
    model = load(file)
    y = labels_of(file.stem, model)
    again = clone(model)
    again.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    last = model[-1] if hasattr(model, "steps") else model
    seen = model[:-1].transform(X) if hasattr(model, "steps") else X
    if hasattr(last, "certificates_") and len(last.certificates_) == 1:
        assert last.certificate_.verify(seen, y)
    save(model, tmp_path / "again.sx")
    np.testing.assert_array_equal(load(tmp_path / "again.sx").predict(X), model.predict(X))


def test_a_perceptron_of_0_1_0_goes_on_where_it_was():
    model = load(FOLDERS[0] / "avg.sx")
    assert isinstance(model, Perceptron)
    assert model.warm_start
    before = model.n_visits_
    model.set_params(max_iter=3).fit(X, SPECIES)
    assert model.until == "separated"
    fresh = Perceptron(average=True, warm_start=True, until="separated").fit(X, SPECIES)
    fresh.set_params(max_iter=3).fit(X, SPECIES)
    assert model.n_visits_ > before
    np.testing.assert_array_equal(model.coef_, fresh.coef_)


def test_former_names_and_values_become_those_of_today():
    machine, free, pair_fits, relaxation = (
        load(FOLDERS[1] / f"{name}.sx")
        for name in ("Perceptron-kesler", "MaxMargin-free", "MaxMargin-ovo", "Relaxation-tol")
    )
    found = machine.get_params()
    assert {k: found[k] for k in ("intercept_scaling", "max_iter", "multi_class", "joint_update")} == {
        "intercept_scaling": 2.0, "max_iter": 30, "multi_class": "joint", "joint_update": "all",
    }  # fmt: skip
    assert (machine.multi_class_, machine.stop_reason_) == ("joint", "max_iter")
    assert free.fit_intercept == "unpenalized"
    assert [c.class_pair for c in pair_fits.certificates_] == [(0, 1), (0, 2), (1, 2)]
    assert machine.certificate_.n_classes == 3
    assert relaxation.margin_tol == 0.2
    assert not hasattr(relaxation, "tol")
