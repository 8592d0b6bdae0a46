"""Exported models decide as the model does, preparation included."""

import numpy as np
import onnxruntime
import polars as pl
import pytest
from cases import EVERYONE, margin_6d
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from separatrix import MaxMargin, ModelError, PiecewiseLinearMachine, VotedPerceptron, export, load
from separatrix.app.cli import app
from separatrix.persistence.onnx_graph import to_onnx
from separatrix.persistence.portable import portable

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def session(model):
    return onnxruntime.InferenceSession(to_onnx(portable(model)).SerializeToString())


@pytest.mark.parametrize("cls", EVERYONE, ids=lambda c: c.__name__)
@pytest.mark.parametrize("labels", ["text", "truth", "three"])
def test_every_classifier(cls, labels):
    X, y = margin_6d()
    y = {"text": y, "truth": y == "yes", "three": np.arange(len(y)) % 3}[labels]
    model = cls(**({"max_iter": 3} if "max_iter" in cls().get_params() else {})).fit(X, y)
    if cls in (VotedPerceptron, PiecewiseLinearMachine):
        with pytest.raises(ModelError, match="cannot be exported"):
            portable(model)
        return
    far = np.vstack([X, 100.0 * X, np.zeros((1, X.shape[1]))])
    label, decision = session(model).run(None, {"numbers": far})
    np.testing.assert_array_equal(label, model.predict(far))
    np.testing.assert_allclose(decision, model.decision_function(far), rtol=1e-12, atol=1e-12)


def test_preparation_is_part_of_it(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    frame = pl.DataFrame(
        {
            "age": [None if i % 7 == 0 else float(i) for i in range(n)],
            "city": [None if i % 11 == 0 else "RSO"[i % 3] for i in range(n)],
            "income": rng.normal(1000, 300, n),
            "buys": ["yes" if i > 30 else "no" for i in range(n)],
        }
    )
    data, model, exported = (str(tmp_path / name) for name in ("data.csv", "m.sx", "m.onnx"))
    frame.write_csv(data)
    options = [
        "--target",
        "buys",
        "--encode",
        "--impute",
        "--scale",
        "--cv",
        "0",
        "--save",
        model,
        "--export",
        exported,
    ]
    assert CliRunner().invoke(app, ["fit", data, *options]).exit_code == 0
    other = frame.with_columns(city=pl.when(pl.col("age") > 50).then(pl.lit("unknown")).otherwise(pl.col("city")))
    inputs = {
        "numbers": other.select("age", "income").fill_null(float("nan")).to_numpy(),
        "text": other.select(pl.col("city").fill_null("")).to_numpy(),
    }
    label, decision = onnxruntime.InferenceSession(exported).run(None, inputs)
    X = other.drop("buys").with_columns(pl.col("age").fill_null(float("nan")))
    np.testing.assert_array_equal(label, load(model).predict(X))
    np.testing.assert_allclose(decision, load(model).decision_function(X), rtol=1e-12)


def test_what_cannot_be_exported_says_so(tmp_path):
    X, y = margin_6d()
    with pytest.raises(ModelError, match="The step PCA cannot be exported"):
        export(make_pipeline(PCA(2), MaxMargin()).fit(X, y), tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
    scaled = make_pipeline(StandardScaler(), MaxMargin()).fit(X, y)
    export(scaled, tmp_path / "m.onnx")
    label, _ = onnxruntime.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"numbers": X})
    np.testing.assert_array_equal(label, scaled.predict(X))
