"""scikit-learn's own tests, run on the drop-in classes: ``python tests/conformance [--list]``.

The test files are those of the installed scikit-learn; nothing of them is copied. A pytest of its own runs them with the
plugin of this folder, which puts the drop-in classes in the place of scikit-learn's. Tests that never touch one of these
do not count. What fails has to be in `expected.toml`, with the reason; what is there has to fail.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
REQUIRED = 0.98  # of the tests that touch a class, as they are
FILES = """
    svm.tests.test_svm svm.tests.test_sparse svm.tests.test_bounds
    linear_model.tests.test_perceptron linear_model.tests.test_passive_aggressive linear_model.tests.test_common
    tests.test_multiclass tests.test_multioutput tests.test_calibration tests.test_pipeline tests.test_base
    ensemble.tests.test_bagging ensemble.tests.test_stacking ensemble.tests.test_voting ensemble.tests.test_base
    ensemble.tests.test_weight_boosting ensemble.tests.test_common
    feature_selection.tests.test_from_model feature_selection.tests.test_rfe
    model_selection.tests.test_search model_selection.tests.test_validation model_selection.tests.test_split
    model_selection.tests.test_successive_halving model_selection.tests.test_classification_threshold
    metrics.tests.test_score_objects metrics.tests.test_ranking metrics.tests.test_classification
    semi_supervised.tests.test_self_training decomposition.tests.test_kernel_pca feature_extraction.tests.test_text
    utils.tests.test_estimator_checks utils.tests.test_multiclass utils.tests.test_pprint
""".split()


def run(folder: Path) -> dict[str, list]:
    """Outcomes by test id."""
    environment = {**os.environ, "SEPARATRIX_CONFORMANCE": str(folder / "results")}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-p", "bound_classes", "-c", str(HERE / "pytest.ini")]
    command += ["--rootdir", str(HERE), "--pyargs", "-q", "-n", "2", *sys.argv[1:], *(f"sklearn.{f}" for f in FILES)]
    with open(folder / "log", "w") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False, cwd=folder)
    results: dict[str, list] = {}
    for file in folder.glob("resultsgw*"):
        results |= json.loads(file.read_text())
    if not results:
        sys.exit((folder / "log").read_text())
    return {name.split("sklearn/", 1)[-1]: outcome for name, outcome in results.items()}


def main() -> None:
    expected = {
        line["test"]: line["reason"] for line in tomllib.loads((HERE / "expected.toml").read_text())["difference"]
    }
    with tempfile.TemporaryDirectory() as folder:
        results = run(Path(folder))
        log = (Path(folder) / "log").read_text()
    counted = {name: outcome for name, (outcome, touched) in results.items() if touched and outcome != "skipped"}
    failed = {name for name, outcome in counted.items() if outcome == "failed"}
    share = 1.0 - len(failed) / len(counted)
    print(f"{len(counted)} of scikit-learn's tests touch a drop-in class; {len(failed)} fail, {share:.2%} pass.")
    for name in sorted(failed & set(expected)):
        print(f"  {name}\n      {expected[name]}")
    problems = [f"fails, and is not expected to: {name}" for name in sorted(failed - set(expected))]
    problems += [f"is expected to fail, and does not: {name}" for name in sorted(set(expected) - failed)]
    if share < REQUIRED:
        problems.append(f"{share:.2%} pass, {REQUIRED:.0%} have to")
    if problems:
        sys.exit(log + "\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
