"""Exported files decide as the model does, in the programs that read them: gcc, ONNX, skl2onnx, a reader of JSON."""

import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

from separatrix import KernelMaxMargin, KernelPerceptron, MaxMargin, ModelError, dropin, export

gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
ATTACKS = [
    '"; system("x"); //',
    "*/ int y; /*",
    "\\",
    "\\n",
    "??/",
    "line\nbreak",
    "\r",
    "%s%n",
    "'",
    "$(x)",
    "é\u2028",
]

MAIN = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "model.c"
static int length(void) { int n; return fread(&n, 4, 1, stdin) == 1 ? n : -2; }
int main(int argc, char **argv) {  /* rows in binary: numbers, then each text with its length, -1 for NULL */
    int d = atoi(argv[1]), k = atoi(argv[2]), width = atoi(argv[3]), place = (void)argc, 0;
    double x[64], scores[64];
    const char *texts[8];
    while (fread(x, 8, d, stdin) == (size_t)d) {
        for (int j = 0; j < k; j++) {
            int n = length();
            char *text = n < 0 ? NULL : calloc(n + 1, 1);
            if (n > 0 && fread(text, 1, n, stdin) != (size_t)n) return 1;
            texts[j] = text;
        }
        place = separatrix_predict(x, texts, scores);
        fwrite(&place, 4, 1, stdout);
        fwrite(scores, 8, width, stdout);
        for (int j = 0; j < k; j++) free((void *)texts[j]);
    }
    return 0;
}
"""


def compiled(folder, model, *options):
    """The exported C file as a program; warnings are errors."""
    export(model, folder / "model.c")
    (folder / "main.c").write_text(MAIN.replace("place = (void)argc, 0", "place = argc - argc"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", *options]
    subprocess.run(["gcc", *flags, "main.c", "-o", "program", "-lm"], cwd=folder, check=True, capture_output=True)
    return folder / "program"


def answers(program, model, numbers, texts=None):
    """The number of each row's class, and its scores."""
    k = 0 if texts is None else texts.shape[1]
    classes = len(model.classes_)
    width = 1 if classes == 2 else classes
    data = bytearray()
    for i, row in enumerate(numbers):
        data += struct.pack(f"{len(row)}d", *row)
        for j in range(k):
            raw = None if texts[i, j] is None else texts[i, j].encode()
            data += struct.pack("i", -1) if raw is None else struct.pack("i", len(raw)) + raw
    command = [program, *map(str, (numbers.shape[1], k, width))]
    out = subprocess.run(command, input=bytes(data), capture_output=True, check=True).stdout
    found = np.frombuffer(out, dtype=np.dtype([("place", "<i4"), ("scores", "<f8", width)]))
    return found["place"], found["scores"].squeeze()


def by_json(path, rows):
    """An independent reader of the JSON form, written from docs/reference/exports.md; -1 where a row is refused."""
    model = json.loads(path.read_text())
    operations = {
        "fill": lambda x, v: v if x is None else x,
        "subtract": lambda x, v: x - v,
        "divide": lambda x, v: x / v,
        "multiply": lambda x, v: x * v,
        "add": lambda x, v: x + v,
    }
    found = []
    for row in rows:
        try:
            features = []
            for part in model["parts"]:
                if "codes" in part:
                    text = row[part["column"]]
                    code = part["missing"] if text is None else part["codes"].get(text, part["unknown"])
                    features += [1.0 if i == int(code) else 0.0 for i in range(part["width"])]
                else:
                    for j, column in enumerate(part["columns"]):
                        x = row[column]
                        for name, values in part["steps"]:
                            x = x if x is None and name != "fill" else operations[name](x, values[j])
                        features.append(float(x))
            for name, values in model["steps"]:
                features = [operations[name](x, v) for x, v in zip(features, values, strict=True)]
        except TypeError:
            found.append(-1)
            continue
        scores = [
            sum(w * x for w, x in zip(weights, features, strict=True)) + b
            for weights, b in zip(model["weights"], model["intercepts"], strict=True)
        ]
        assert model["decision"] == "largest"
        found.append(int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores)))
    return found


def mixed(n, seed, texts):
    """Rows with numbers and texts, both with missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 100.0, 1e-3]
    words = rng.choice(np.array(texts, dtype=object), size=(n, 2))
    y = (X[:, 0] + X[:, 1] / 100 + np.array([len(w) % 3 for w in words[:, 0]]) > 1).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    words[rng.random(words.shape) < 0.1] = None
    return X, words, y


def frame_of(X, words, names):
    columns = {names[j]: X[:, j] for j in range(3)} | {names[3 + j]: words[:, j].tolist() for j in range(2)}
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def preprocessed():
    """A model with every kind of preprocessing; names, texts and labels are attacks."""
    names = [f"{ATTACKS[j]} {j}" for j in range(5)]
    X, words, y = mixed(600, 0, [*ATTACKS, "rare"])
    labels = np.array(['no"; */', "yes\\\n"])[y]
    rare = {"handle_unknown": "infrequent_if_exist", "min_frequency": 30}
    fill = SimpleImputer(strategy="most_frequent", missing_values=None)
    columns = ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), names[:2]),
            ("t", make_pipeline(fill, OneHotEncoder(**rare)), names[3:4]),
            ("m", make_pipeline(MinMaxScaler(), SimpleImputer()), names[2:3]),
            ("u", OneHotEncoder(handle_unknown="ignore"), names[4:]),
        ]
    )
    model = make_pipeline(columns, RobustScaler(with_centering=False), MaxMargin(C=1.0))
    return model.fit(frame_of(X, words, names), labels), names


@gcc
def test_c_gives_the_same_class_on_ten_thousand_rows(preprocessed, tmp_path):
    model, names = preprocessed
    X, words, _ = mixed(10_000, 1, [*ATTACKS, "unknown", "?", ""])
    frame = frame_of(X, words, names)
    place, scores = answers(compiled(tmp_path, model), model, X, words)
    assert model.classes_[place].tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-9, atol=1e-9)


@gcc
def test_c_refuses_what_the_model_refuses(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), MaxMargin()).fit(X, y)
    rows = np.vstack([X, np.full((2, 4), np.nan), np.full((1, 4), np.inf)])
    place, scores = answers(compiled(tmp_path, model), model, rows)
    assert place.tolist() == [*model.predict(X).tolist(), -1, -1, -1]
    np.testing.assert_allclose(scores[:150], model.decision_function(X), rtol=1e-12)
    words = np.array([["a"], ["b"]] * 20, dtype=object)
    encoded = make_pipeline(ColumnTransformer([("t", OneHotEncoder(), [0])]), MaxMargin()).fit(words, [0, 1] * 20)
    (tmp_path / "b").mkdir()
    asked = np.array([["a"], ["b"], ["c"], [None]], dtype=object)
    place, _ = answers(compiled(tmp_path / "b", encoded), encoded, np.zeros((4, 1)), asked)
    assert place.tolist() == [0, 1, -1, -1]


@gcc
@pytest.mark.parametrize("way", ["ovr", "ovo", "joint"])
def test_c_of_several_classes(way, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = MaxMargin(multi_class=way).fit(X, y)
    place, scores = answers(compiled(tmp_path, model), model, X)
    assert place.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-9, atol=1e-9)


@gcc
def test_c_strings_are_what_they_were(preprocessed, tmp_path):
    model, names = preprocessed
    export(model, tmp_path / "model.c")
    lists = {"classes": model.classes_.tolist(), "number_columns": names[:3], "text_columns": names[3:]}
    for name, shown in lists.items():
        body = f"for (const char *const *s = separatrix_{name}; *s; s++) fwrite(*s, 1, strlen(*s) + 1, stdout);"
        text = f'#include <stdio.h>\n#include "model.c"\nint main(void) {{ {body} return 0; }}'
        (tmp_path / "m.c").write_text(text)
        subprocess.run(["gcc", "-trigraphs", "m.c", "-o", "m"], cwd=tmp_path, check=True, capture_output=True)
        out = subprocess.run([tmp_path / "m"], capture_output=True, check=True).stdout
        assert out.decode().split("\0")[:-1] == shown


@gcc
def test_the_program_of_the_docs(tmp_path):
    page = (Path(__file__).parents[1] / "docs/start/deploying.md").read_text()
    X, y = load_iris(return_X_y=True)
    export(make_pipeline(StandardScaler(), MaxMargin()).fit(X, y), tmp_path / "iris.c")
    (tmp_path / "main.c").write_text(re.search(r"```c\n(.*?)```", page, flags=re.S)[1])
    subprocess.run(["gcc", "main.c", "-o", "iris"], cwd=tmp_path, check=True)
    out = subprocess.run([tmp_path / "iris"], capture_output=True, text=True, check=True).stdout
    assert f"`{out.strip()}`" in page


@gcc
def test_two_models_in_one_program(tmp_path):
    X, y = load_iris(return_X_y=True)
    for k in (0, 1):
        export(MaxMargin().fit(X, y == k), tmp_path / f"m{k}.c")
        names = ("predict", "classes", "number_columns", "text_columns")
        renamed = [f"-Dseparatrix_{name}=m{k}_{name}" for name in names]
        subprocess.run(["gcc", *renamed, "-c", f"m{k}.c"], cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(
        "int m0_predict(const double *, void *, void *); int m1_predict(const double *, void *, void *);"
        f"int main(void) {{ double x[4] = {{{', '.join(map(str, X[0]))}}};"
        "return 10 * m0_predict(x, 0, 0) + m1_predict(x, 0, 0); }"
    )
    subprocess.run(["gcc", "main.c", "m0.o", "m1.o", "-o", "both"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "both"], check=False).returncode == 10


def test_json_read_by_itself(preprocessed, tmp_path):
    model, names = preprocessed
    X, words, _ = mixed(1000, 2, [*ATTACKS, "unknown", "\0", "a\0b"])
    export(model, tmp_path / "model.json")
    rows = [[*(None if np.isnan(v) else v for v in x), *w] for x, w in zip(X.tolist(), words.tolist(), strict=True)]
    shown = model.predict(frame_of(X, words, names))
    assert model.classes_[by_json(tmp_path / "model.json", rows)].tolist() == shown.tolist()
    content = json.loads((tmp_path / "model.json").read_text())
    assert [column["name"] for column in content["columns"]] == names
    assert content["classes"] == model.classes_.tolist()


def test_onnx_with_every_kind_of_preprocessing(preprocessed, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    model, names = preprocessed
    X, words, _ = mixed(1000, 3, [*ATTACKS, "unknown"])
    export(model, tmp_path / "model.onnx")
    text = np.array([["" if w is None else w for w in row] for row in words])
    label, decision = runtime.InferenceSession(tmp_path / "model.onnx").run(None, {"numbers": X, "text": text})
    frame = frame_of(X, words, names)
    assert label.tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(decision, model.decision_function(frame), rtol=1e-9, atol=1e-9)


def test_onnx_says_what_the_model_refuses(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    words = np.array([["a"], ["b"]] * 20, dtype=object)
    model = make_pipeline(ColumnTransformer([("t", OneHotEncoder(), [0])]), MaxMargin()).fit(words, [0, 1] * 20)
    export(model, tmp_path / "m.onnx")
    _, decision = runtime.InferenceSession(tmp_path / "m.onnx").run(None, {"text": np.array([["a"], ["c"], [""]])})
    assert np.isnan(decision).tolist() == [False, True, True]


@pytest.mark.parametrize("name", ['m"a\n.c', "m*?.c", "m\\.json", "m'$(x).onnx"])
def test_names_of_files_are_names(name, tmp_path):
    X, y = load_iris(return_X_y=True)
    export(MaxMargin().fit(X, y), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_classifiers_of_scikit_learn_and_dropin_are_exported(tmp_path):
    X, y = load_iris(return_X_y=True)
    for model in (LogisticRegression(max_iter=1000), dropin.LinearSVC(), dropin.Perceptron()):
        export(model.fit(X, y), tmp_path / "m.json")
        assert by_json(tmp_path / "m.json", X.tolist()) == model.predict(X).tolist()


REFUSED = [
    (lambda: KernelMaxMargin(), "m.c", "a kernel cannot be exported to C"),
    (lambda: KernelMaxMargin(), "m.json", "a kernel cannot be exported to JSON"),
    (lambda: KernelMaxMargin(kernel="precomputed"), "m.onnx", "a function or a matrix"),
    (lambda: MaxMargin(), "m.pmml", r"Use \.onnx, \.c or \.json"),
    (lambda: make_pipeline(SimpleImputer(add_indicator=True), MaxMargin()), "m.c", "adds no indicator"),
    (lambda: make_pipeline(MinMaxScaler(clip=True), MaxMargin()), "m.c", "MinMaxScaler cannot be exported"),
]


@pytest.mark.parametrize(("make", "name", "words"), REFUSED)
def test_what_cannot_be_exported_says_why(make, name, words, tmp_path):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    X = X @ X.T if "precomputed" in str(make().get_params()) else X
    if "indicator" in words:
        X[0, 0] = np.nan
    with pytest.raises(ModelError, match=words):
        export(make().fit(X, [0, 0, 1]), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_nul_and_lone_surrogates_are_refused_where_a_file_cannot_hold_them(tmp_path):
    for label, ending, words in (("a\0b", ".c", "NUL"), ("\udc80", ".c", "UTF-8"), ("\udc80", ".onnx", "UTF-8")):
        model = MaxMargin().fit([[0.0], [1.0]], [label, "z"])
        with pytest.raises(ModelError, match=words):
            export(model, tmp_path / f"m{ending}")
    assert not list(tmp_path.iterdir())


class TestSkl2onnx:
    """The foreign converter takes our estimators."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        self.skl2onnx = pytest.importorskip("skl2onnx")
        self.runtime = pytest.importorskip("onnxruntime")

    def run(self, model, X):
        last = model[-1] if hasattr(model, "steps") else model
        made = self.skl2onnx.to_onnx(model, X[:1], options={id(last): {"zipmap": False}})
        return self.runtime.InferenceSession(made.SerializeToString()).run(None, {"X": X})

    MODELS = [
        MaxMargin(), MaxMargin(multi_class="ovo"), KernelMaxMargin(), KernelPerceptron(max_iter=20),
        KernelMaxMargin(kernel="poly", coef0=1.0, degree=2), KernelMaxMargin(loss="hinge", multi_class="ovo"),
        dropin.LinearSVC(),
        dropin.SVC(), dropin.SVC(kernel="linear"), dropin.SVC(kernel="sigmoid"), dropin.SVC(kernel="poly"),
        dropin.Perceptron(), make_pipeline(StandardScaler(), dropin.SVC()),
        make_pipeline(StandardScaler(), MaxMargin()),
    ]  # fmt: skip

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("model", MODELS, ids=str)
    @pytest.mark.parametrize("labels", ["numbers", "truth", "text"])
    def test_decides_as_the_model(self, model, labels):
        X, y = load_iris(return_X_y=True)
        y = {"numbers": y, "truth": y > 0, "text": np.array(ATTACKS)[y]}[labels]
        label, scores = self.run(model.fit(X, y), X)
        assert label.tolist() == model.predict(X).tolist()
        shown = model.decision_function(X)
        shown = np.column_stack([-shown, shown]) if shown.ndim == 1 else shown
        np.testing.assert_allclose(scores, shown, rtol=1e-9, atol=1e-9)
        label, scores = self.run(model, X.astype(np.float32))
        assert scores.dtype == np.float32
        np.testing.assert_allclose(scores, shown, rtol=1e-3, atol=1e-3)

    def test_within_a_meta_estimator(self):
        X, y = load_iris(return_X_y=True)
        model = CalibratedClassifierCV(MaxMargin()).fit(X, y)
        label, probability = self.run(model, X)
        assert label.tolist() == model.predict(X).tolist()
        np.testing.assert_allclose(probability, model.predict_proba(X), atol=1e-9)

    @pytest.mark.parametrize("order", ["skl2onnx, separatrix", "separatrix, skl2onnx"])
    def test_registers_itself(self, order):
        code = (
            f"import {order}\nfrom skl2onnx import get_model_alias\n"
            "from separatrix.dropin import SVC\nprint(get_model_alias(separatrix.MaxMargin), get_model_alias(SVC))"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert out.split() == ["separatrix.MaxMargin", "separatrix.dropin.SVC"]
