"""Models that release 0.1.0 saved still load, predict as they did, verify, and go on."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from separatrix import Perceptron, load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FOLDER = Path(__file__).parent / "models_0_1_0"
X, SPECIES = load_iris(return_X_y=True)


def labels_of(name, model):
    """What the model was fitted to when it was saved."""
    if name == "pipe":
        return SPECIES == 1
    if name == "ovr":
        return np.array(["se", "ve", "vi"])[SPECIES]
    return SPECIES == 0 if len(model.classes_) == 2 else SPECIES


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.sx")))
def test_a_model_of_0_1_0_is_what_it_was(name, tmp_path):
    model = load(FOLDER / f"{name}.sx")
    y = labels_of(name, model)
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
    model = load(FOLDER / "avg.sx")
    assert isinstance(model, Perceptron)
    assert model.warm_start
    before = model.n_visits_
    model.set_params(max_iter=3).fit(X, SPECIES)
    fresh = Perceptron(average=True, warm_start=True).fit(X, SPECIES)
    fresh.set_params(max_iter=3).fit(X, SPECIES)
    assert model.n_visits_ > before
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
