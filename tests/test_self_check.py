"""The report that verifies itself: in node it reads files as the fit did, in Chromium it judges those it is given."""

import csv
import io
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from chromium import opened, running_browser

from separatrix import KernelMaxMargin
from separatrix.app.report import self_check
from separatrix.app.report.page_style import SCRIPT, STYLE
from separatrix.app.report.report_files import write_html
from separatrix.app.workflows import Options, fit
from separatrix.certificates import checker

NODE = shutil.which("node")
node = pytest.mark.skipif(NODE is None, reason="node is not installed: apt-get install nodejs")
HOSTILE = '</script><img src=x onerror=alert(1)>"; \\'
FILES = [Path(checker.__file__).with_suffix(".js"), Path(self_check.__file__).with_suffix(".js")]
HARNESS = """
const fs = require("fs"), [, checker, report, proof, ...files] = process.argv, {verify} = require(report);
(async () => {
  for (const file of files) {
    const bytes = file.startsWith("size:") ? {byteLength: Number(file.slice(5))} : fs.readFileSync(file);
    console.log(JSON.stringify(await verify(require(checker), fs.readFileSync(proof, "utf8"), file, bytes)));
  }
})();
"""


def in_node(proof, folder, *files):
    """What the page says of each file."""
    (folder / "proof.json").write_text(json.dumps(proof))
    command = [NODE, "-e", HARNESS, *FILES, folder / "proof.json", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def written(rows, header, mark=",", end="\n", quoting=csv.QUOTE_MINIMAL):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator=end, quoting=quoting)
    writer.writerows([header, *rows] if header else rows)
    return out.getvalue()


def numbers(rng, n=40, classes=("no", "yes"), d=3):
    """Rows of numbers, and their labels."""
    y = rng.permutation(np.arange(n) % len(classes))
    X = 1.5 * rng.normal(size=(len(classes), d))[y] + rng.normal(size=(n, d)) * [1.0, 1e5, 1e-7][:d]
    return [[*map(repr, x.tolist()), str(classes[k])] for x, k in zip(X, y, strict=True)]


def mixed(rng, n=60):
    """Numbers and texts with missing values, names and texts as attacks, commas and line ends in fields."""
    words = np.array([HOSTILE, "a,b", "two\nlines", 'say "x"', " padded ", "rare"], dtype=object)
    rows = numbers(rng, n)
    for row in rows:
        row.insert(1, words[rng.choice(6, p=[0.25, 0.25, 0.2, 0.15, 0.14, 0.01])])
        for j in range(4):
            if rng.random() < 0.1:
                row[j] = str(rng.choice(["", "NA", " ? "]))
    return rows


TABLES = {  # text of a file, options of the fit, how the file is read
    "two classes": lambda rng: (written(numbers(rng), ["a", HOSTILE, "c", "label"]), {}),
    "scaled, three classes, CRLF, blank lines": lambda rng: (
        "\ufeff" + written(numbers(rng, 60, "xyz"), ["a", "b", "c", "label"], end="\r\n").replace("x\r\n", "x\r\n\r\n"),
        {"scale": True},
    ),
    "texts and missing values": lambda rng: (
        written(mixed(rng), ["a", HOSTILE, "c", "d", "label"]),
        {"scale": True, "encode": True, "impute": True},
    ),
    "quoted fields, semicolons, decimal commas": lambda rng: (
        written(numbers(rng), ["a", "b", "c", "label"], ";", quoting=csv.QUOTE_ALL).replace(".", ","),
        {"scale": True},
    ),
    "no names, tabs, labels of 64 bits": lambda rng: (
        written(numbers(rng, classes=[2**53 + 1, 2**53 + 3, -(2**62) - 1]), None, "\t"),
        {"target": "4", "multi_class": "ovo"},
    ),
    "truth values, weights": lambda rng: (
        written(numbers(rng, classes=[True, False]), ["a", "b", "c", "label"]).replace("True", "true"),
        {"class_weight": "balanced", "scale": True},
    ),
    "labels like 2.0, one class against the rest": lambda rng: (
        written(numbers(rng, 60, classes=["2.0", "10.0", "3.0"]), ["a", "b", "c", "label"]),
        {"multi_class": "ovr", "scale": True},
    ),
    "hard": lambda rng: (written(numbers(rng, 8, d=3), ["a", "b", "c", "label"]), {"C": np.inf, "scale": True}),
}


def fitted(folder, name, **more):
    """A file, and its fit."""
    text, options = TABLES[name](np.random.default_rng(0))
    path, options = folder / "data.csv", {"C": 1.0, "folds": 0, **options, **more}
    path.write_bytes(text.encode())
    return path, fit(
        path, Options(**{k: v for k, v in options.items() if k != "target"}), target=options.get("target", "label")
    )


@node
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", TABLES)
def test_the_page_reads_a_file_as_the_fit_did_and_every_claim_holds(tmp_path, name):
    path, found = fitted(tmp_path, name)
    proof = self_check.proof(found)
    assert "unchecked" not in proof, proof
    (shown,) = in_node(proof, tmp_path, path)
    assert shown["why"] == ""
    assert shown["same"]
    assert shown["rows"] == found.table.n
    assert shown["verdict"] == "holds"
    claims = found.verification.values()
    assert sum(len(o["checked"]) for o in shown["outcomes"] if not o["of"]) == sum(len(v.checked) for v in claims)
    assert any(o["of"] for o in shown["outcomes"])


@node
def test_no_claim_that_is_forged_holds(tmp_path):
    path, found = fitted(tmp_path, "texts and missing values")
    proof, shown = self_check.proof(found), []
    for change in ({"lower": 1.5}, {"upper": 0.5}, {"radius": 1.001}, {"lower": 1.0 + 1e-6}, {"upper": 1.0 - 1e-6}):
        forged = json.loads(json.dumps(proof))
        for name, factor in change.items():
            forged["claims"][0]["certificate"][name] *= factor
        shown += in_node(forged, tmp_path, path)
    forged = json.loads(json.dumps(proof))
    forged["claims"][-1]["certificate"]["direction"][0] += 0.5
    shown += in_node(forged, tmp_path, path)
    assert [found["verdict"] for found in shown] == ["fails"] * 6
    assert all(found["same"] for found in shown)


@node
def test_other_files_are_told_apart(tmp_path):
    path, found = fitted(tmp_path, "texts and missing values")
    text, files = path.read_text(), {}
    line = text.index("\n", text.index("yes"))
    files["moved"] = text[: line - 3] + "no" + text[line:]
    files["same rows, other bytes"] = text.rstrip("\n")
    files["other columns"] = text.replace("d,label", "e,label")
    files["short"] = text[: text.rindex(",")]
    files["unknown class"] = text[:line] + "!" + text[line:]
    files["no number"] = re.sub(r"\n-?\d\.", "\nabc.", text, count=1)
    files["infinite"] = re.sub(r"\n-?\d\.\d+", "\n1e999", text, count=1)
    files["quote"] = text + '"'
    files["empty"] = ""
    places = [tmp_path / f"{k}.csv" for k in range(len(files))]
    for place, content in zip(places, files.values(), strict=True):
        place.write_text(content)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    proof = self_check.proof(found)
    shown = dict(zip(files, in_node(proof, tmp_path, *places), strict=True))
    assert (shown["moved"]["verdict"], shown["moved"]["same"]) == ("fails", False)
    assert (shown["same rows, other bytes"]["verdict"], shown["same rows, other bytes"]["same"]) == ("holds", True)
    words = {
        "other columns": 'no column "d"',
        "short": "fields",
        "unknown class": 'class "yes!" is unknown',
        "no number": "expected a number",
        "infinite": "missing or not finite",
        "quote": "a quote is not closed",
        "empty": "the file is empty",
    }
    for name, why in words.items():
        assert shown[name]["verdict"] == "unchecked"
        assert why in shown[name]["why"], shown[name]
    binary, large = in_node(proof, tmp_path, tmp_path / "binary", "size:200000001")
    assert "not text" in binary["why"]
    assert "files above 200 MB" in large["why"]
    assert large["command"] == "separatrix verify model.sx data.csv"


@node
def test_a_reading_that_differs_is_not_judged(tmp_path):
    """The very file of the fit, whose rows the page would read otherwise: neither true nor false is reported."""
    path, found = fitted(tmp_path, "two classes")
    proof = self_check.proof(found)
    proof["rows"]["sha256"] = "0" * 64
    (shown,) = in_node(proof, tmp_path, path)
    assert shown["verdict"] == "unchecked"
    assert "in another way" in shown["why"]


@node
def test_the_documented_script_runs(tmp_path):
    root = Path(__file__).parents[1]
    path = tmp_path / "iris.csv"
    path.write_bytes((root / "docs/start/iris.csv").read_bytes())
    found = fit(path, Options(C=1.0, folds=0, scale=True), target="species")
    write_html(found, tmp_path / "iris.html")
    text = (root / "docs/start/verify_report.md").read_text()
    script = re.search(r"^```js\n(.*?)^```", text, flags=re.S | re.M)[1].replace("./${folder}", f"{root}/${{folder}}")
    done = subprocess.run([NODE, "-e", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "holds true", done.stderr


def test_readings_that_a_page_does_not_know_are_named_with_the_command(tmp_path):
    rng, found = np.random.default_rng(0), {}
    rows = [
        [f"2024-01-{k % 27 + 1:02}", f"{k},{rng.integers(100, 999)}.5", *row] for k, row in enumerate(numbers(rng), 1)
    ]
    path = tmp_path / "spelled.csv"
    path.write_text(written(rows, ["day", "paid", "a", "b", "c", "label"]))
    found["dates"] = self_check.section(fit(path, Options(C=1.0, folds=0, scale=True), target="label"))
    path = tmp_path / "it's.csv"
    path.write_text("# about\n" + written(rows, ["day", "paid", "a", "b", "c", "label"]))
    reading = {"target": "label", "drop": ["day", "paid"]}
    found["comments"] = self_check.section(fit(path, Options(C=1.0, folds=0), **reading))
    path.write_bytes(written(rows, ["é", "paid", "a", "b", "c", "label"]).encode("cp1252"))
    reading = {"target": "label", "drop": ["é", "paid"], "encoding": "cp1252"}
    found["encoding"] = self_check.section(fit(path, Options(C=1.0, folds=0), **reading))
    path.write_text(written(numbers(rng), ["a", "b", "c", "label"]))
    kernel = Options(estimator=KernelMaxMargin(C=1.0), folds=0)
    found["kernel"] = self_check.section(fit(path, kernel, target="label"))
    found["sample"] = self_check.section(fit(None, Options(C=1.0, folds=0)))
    words = {
        "dates": ["The column &#x27;day&#x27; holds dates", "&#x27;paid&#x27; holds thousands separated by commas"],
        "comments": ["comments before the table"],
        "encoding": ["csv in cp1252"],
        "kernel": ["Claims about kernels"],
        "sample": ["breast cancer is scikit-learn"],
    }
    for name, (html, scripts) in found.items():
        assert all(said in html for said in words[name]), html
        assert "separatrix verify model.sx" in html
        assert not scripts
    assert "&#x27;it&#x27;&quot;&#x27;&quot;&#x27;s.csv&#x27;" in found["kernel"][0]


def test_the_policy_names_every_script_and_the_style_of_the_page(tmp_path):
    found = fitted(tmp_path, "texts and missing values")[1]
    write_html(found, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    shown = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert shown.startswith("default-src 'none'; ")
    assert "unsafe" not in shown
    assert shown == self_check.policy([self_check.CHECKER, self_check.READER, SCRIPT], STYLE)
    assert HOSTILE not in page
    assert page.count("</script>") == 4
    assert " style=" not in page


@cache
def report_of(folder):
    path, found = fitted(folder, "texts and missing values")
    write_html(found, folder / "report.html")
    return path, folder / "report.html"


@pytest.fixture(scope="module")
def browser():
    with running_browser() as running:
        yield running


def test_in_a_browser_the_right_file_a_changed_one_and_a_wrong_one(browser, tmp_path):
    path, report = report_of(tmp_path)
    page, troubles = opened(browser)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    text = path.read_text()
    line = text.index("\n", text.index("yes"))
    (tmp_path / "changed.csv").write_text(text[: line - 3] + "no" + text[line:])
    (tmp_path / "wrong.csv").write_text(f'a,"{HOSTILE.replace(chr(34), chr(34) * 2)}"\n1,2\n')
    said = {}
    for name in ("data.csv", "changed.csv", "wrong.csv"):
        page.set_input_files("#file", tmp_path / name)
        page.locator("#outcome > .verdict", has_text=name).wait_for()
        said[name] = page.locator("#outcome").inner_text()
    assert "All claims hold on data.csv. Its rows are those of the fit." in said["data.csv"]
    assert "✓" in said["data.csv"]
    assert "does NOT hold on changed.csv" in said["changed.csv"]
    assert "✗ FAILS" in said["changed.csv"]
    assert "wrong.csv was not checked" in said["wrong.csv"]
    assert "separatrix verify model.sx data.csv" in said["wrong.csv"]
    assert not troubles  # no violation of the policy, no label was run as a script
    assert all(url.startswith(("file:", "data:")) for url in requests)
    page.context.close()


def test_in_a_browser_a_file_is_dropped_and_nothing_can_be_sent(browser, tmp_path):
    path, report = report_of(tmp_path)
    page, troubles = opened(browser, offline=False)
    page.goto(report.as_uri())
    page.evaluate(
        """(text) => { const data = new DataTransfer(); data.items.add(new File([text], "dropped.csv"));
        document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})); }""",
        path.read_text(),
    )
    page.wait_for_selector("#outcome > .verdict")
    assert "All claims hold on dropped.csv" in page.locator("#outcome").inner_text()
    assert not troubles
    blocked = """() => new Promise((go) => {
      const blocked = new Set();
      document.addEventListener("securitypolicyviolation", (event) => blocked.add(event.effectiveDirective));
      setTimeout(() => {
        fetch("http://127.0.0.1:9/").catch(() => { });
        new Image().src = "http://127.0.0.1:9/x.png";
        document.body.append(Object.assign(document.createElement("script"), {textContent: "alert(1)"}));
        try { (0, eval)("alert(1)"); } catch { }
        setTimeout(() => go([...blocked].sort()), 500);
      }, 50);
    })"""
    assert page.evaluate(blocked) == ["connect-src", "img-src", "script-src", "script-src-elem"]
    assert not any("dialog" in said for said in troubles)
    page.context.close()
