"""What surrounds a separator is saved and exported with it."""

import numpy as np
import pytest
from newcomer import clouds
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from separatrix import MaxMargin, ModelError, export, load, save


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(PCA(2), MaxMargin()),
        make_pipeline(TruncatedSVD(2), MaxMargin()),
        make_pipeline(SelectKBest(k=2), MaxMargin()),
        make_pipeline(SelectFromModel(MaxMargin()), MaxMargin()),
        make_pipeline(RFE(MaxMargin(), n_features_to_select=2), MaxMargin()),
        make_pipeline(VarianceThreshold(), PowerTransformer(), MaxMargin()),
        make_pipeline(QuantileTransformer(n_quantiles=10), MaxMargin()),
        make_pipeline(KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), MaxMargin()),
        make_pipeline(Nystroem(n_components=10, random_state=0), MaxMargin()),
        CalibratedClassifierCV(make_pipeline(StandardScaler(), MaxMargin()), cv=3),
        CalibratedClassifierCV(FrozenEstimator(MaxMargin()), ensemble=False),
        GridSearchCV(make_pipeline(StandardScaler(), MaxMargin()), {"maxmargin__C": [0.1, 1.0]}, cv=StratifiedKFold(3)),
        RandomizedSearchCV(MaxMargin(), {"C": [0.1, 1.0]}, n_iter=2, cv=3, scoring="balanced_accuracy", random_state=0),
        VotingClassifier([("a", MaxMargin()), ("b", MaxMargin(C=0.1))]),
        BaggingClassifier(MaxMargin(), n_estimators=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__ if not hasattr(model, "steps") else type(model.steps[-2][1]).__name__,
)
def test_what_surrounds_a_separator_is_saved(tmp_path, model):
    frame = clouds(90)
    X, y = frame.drop("label").to_numpy(), frame["label"].to_numpy().astype(str)
    if isinstance(getattr(model, "estimator", None), FrozenEstimator):
        model.estimator.estimator.fit(X, y)
    save(model.fit(X, y), tmp_path / "m.sx")
    again = load(tmp_path / "m.sx")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.score(X, y) == model.score(X, y)
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    if hasattr(model, "cv_results_"):
        np.testing.assert_array_equal(again.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"])


def test_what_cannot_be_saved_is_said(tmp_path):
    frame = clouds(60)
    X, y = frame.drop("label").to_numpy(), frame["label"].to_numpy().astype(str)
    model = VotingClassifier([("a", MaxMargin()), ("tree", DecisionTreeClassifier())]).fit(X, y)
    with pytest.raises(
        ModelError, match=r"DecisionTreeClassifier, which is not among .* CalibratedClassifierCV, .* PCA"
    ):
        save(model, tmp_path / "m.sx")
    model = make_pipeline(SelectKBest(lambda X, y: np.ones(4), k=2), MaxMargin()).fit(X, y)
    with pytest.raises(ModelError, match="score_func is a function"):
        save(model, tmp_path / "m.sx")


def test_one_against_one_is_exported(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    frame, path = clouds(120, d=4, classes=4, seed=2), tmp_path / "m.onnx"
    X, y = frame.drop("label").to_numpy(), frame["label"].to_numpy().astype(str)
    model = MaxMargin(multi_class="ovo").fit(X, y)
    export(model, path)
    label, decision = onnxruntime.InferenceSession(path).run(None, {"numbers": X})
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-9)
