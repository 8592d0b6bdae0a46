"""The checker in JavaScript decides as checker.py does, in node: certificates of fits, forged and mutated ones."""

import json
import shutil
import subprocess
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from test_mutations import fits, mutation, pick, plain

from separatrix import MaxMargin
from separatrix.certificates import checker

NODE, SCRIPT = shutil.which("node"), Path(checker.__file__).with_suffix(".js")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed: apt-get install nodejs")
HARNESS = """
const checker = require(process.argv[1]), lines = require("fs").readFileSync(0, "utf8").trim().split("\\n");
for (const line of lines) {
  const [X, y, text] = JSON.parse(line);
  let found;
  try {
    const labels = y.map((v) => (typeof v === "number" ? BigInt(v) : v));
    found = checker.check(checker.matrix(X), labels, checker.parse(text));
  } catch (error) { found = {failed: [`refused: ${error.message}`]}; }
  console.log(JSON.stringify(found));
}
"""


def in_node(cases):
    """What the checker says of each case: rows, labels, and the text of a certificate."""
    lines = "\n".join(json.dumps([X, y, text]) for X, y, text in cases)
    done = subprocess.run([NODE, "-e", HARNESS, SCRIPT], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def in_python(X, y, text):
    rows = [[int(v, 16) if isinstance(v, str) else v for v in row] for row in X]
    try:
        return checker.check(rows, y, json.loads(text, object_pairs_hook=checker._once))
    except (checker._StopError, ValueError, RecursionError) as error:
        return {"failed": [f"refused: {error}"]}


def verdicts(found):
    """Which claims were checked, failed or unchecked; whether the certificate was refused; how many notes there are."""
    places = ("checked", "failed", "unchecked")
    said = {place: sorted(text.split()[0] for text in found.get(place, ())) for place in places}
    return {**said, "notes": len(found.get("notes", ()))}


def as_list(value):
    return [as_list(v) for v in value.tolist()] if isinstance(value, np.ndarray) else float(value)


def cases_of(seed, count):
    """Certificates of fits as they are and with up to two fields replaced, over floats and integers of 64 bits."""
    rng, found, previous = np.random.default_rng(seed), [], {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(found) < count:
            for X, y, certificate in fits(rng):
                claim = plain(X, y, certificate)
                rows, labels = X.astype(np.float64).tolist(), y.tolist()
                if rng.random() < 0.1:
                    base = pick(rng, [2**53 + 1, -(2**62) - 3, 5])
                    rows = [[hex(base + int(np.clip(v, -9, 9))) for v in row] for row in rows]
                for changes in range(12):
                    most = min(changes, pick(rng, [1, 1, 2]))
                    wrong = dict(mutation(rng, claim, previous, len(y)) for _ in range(most))
                    text = json.dumps({**claim, **wrong}, default=as_list)
                    found.append((rows, labels, text))
                previous = claim
    return found[:count]


def differences(seed, count):
    cases, seen = cases_of(seed, count), Counter()
    wrong = []
    for case, found in zip(cases, in_node(cases), strict=True):
        shown, expected = verdicts(found), verdicts(in_python(*case))
        seen.update({place: len(names) for place, names in expected.items() if place != "notes"})
        seen["refused"] += "refused:" in expected["failed"]
        if shown != expected:
            wrong.append((shown, expected, found, case))
    return seen, wrong


def test_no_answer_differs_from_the_python_checker():
    seen, wrong = differences(0, 400)
    assert not wrong, wrong[0]
    assert min(seen[place] for place in ("checked", "failed", "refused")) > 50, seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_no_answer_of_ten_thousand_differs(seed):
    seen, wrong = differences(seed, 2000)
    print(seen)
    assert not wrong, wrong[0]


TEXTS = [
    '{"lower": 1, "lower": 2}', '{"rho": 9007199254740993}', '{"n_classes": 2.0}', '{"lower": NaN}', "[" * 2000,
    '{"__proto__": {"lower": 1}}', '{"lower": 01}', '{"lower": +1}', '{"lower": "\\ud800"}', "{} {}", "",
    '{"a\u0000": 1}',
    '{"lower": -Infinity, "rho": 1e400}', '{"alpha_exact": ["0x_1"], "separable": false, "alpha_index": [0]}',
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_readers_of_json_understand_differently(text):
    case = ([[0.0], [1.0]], [0, 1], text)
    assert verdicts(in_node([case])[0]) == verdicts(in_python(*case))


def test_as_a_program(tmp_path):
    X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 0.0], [4.0, 2.0]], ["a", "b", "c", "c"]
    model = MaxMargin(multi_class="ovo").fit(X, y)
    data, claims = tmp_path / "data.json", tmp_path / "claims.json"
    data.write_text(json.dumps({"X": X, "y": y}))

    def run(*options, change=None):
        plain_forms = [{**c.as_plain(), **(change or {})} for c in model.certificates_]
        claims.write_text(json.dumps(plain_forms))
        done = subprocess.run([NODE, SCRIPT, data, claims, *options], capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout or "[]")

    code, found = run()
    assert code == 0
    assert all(f["checked"] and "take no part" in f["notes"][0] for f in found)
    assert run("all")[0] == 1
    assert run(change={"lower": 100.0})[0] == 1
    assert subprocess.run([NODE, SCRIPT, data], capture_output=True, check=False).returncode == 1
