"""Compiled code across processes: nothing compiled twice, edits seen, damage mended."""

import ast
import errno
import hashlib
import importlib
import os
import pickle
import re
import shutil
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import numba
import numpy as np
import pytest
from processes import run

from separatrix import Perceptron
from separatrix import compile_cache as cache
from separatrix.rules.base import digest

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEVERAL = """
    import separatrix
    from separatrix.callbacks import MarginTrace
    models = [separatrix.Perceptron(max_iter=5), separatrix.BalancedWinnow(max_iter=5)]
    found = [model.fit(X, y).score(X, y) for model in models]
    found += [separatrix.Perceptron(max_iter=5).fit(data, y).score(data, y)
              for data in (sp.csr_matrix(X), np.asfortranarray(X), X[::-1][::-1], X.tolist(), X.astype(int))]
    found.append(bool(models[0].certificate_.verify(X, y)))
    print(json.dumps([found, "numba.typed.typedlist" in sys.modules, kernels()]))
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache folder that was empty before one process fitted several models, and what that process said."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    return cache, run(SEVERAL, **cache)


def test_a_second_process_compiles_nothing(filled):
    cache, (first, _, (_, compiled)) = filled
    second, _, (hits, misses) = run(SEVERAL, **cache)
    assert second == first
    assert compiled >= hits
    assert misses == 0
    assert hits > 5


ONE = """
    from separatrix.online.loops.order import order_of, permutation
    order = order_of(9, 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        if "nothing may be written" in sys.argv:
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        permutation()(order, 2)  # a kernel that is quickly compiled
    caught = [str(w.message) for w in caught if w.category is RuntimeWarning]
    print(json.dumps([order.sequence.tolist(), caught, *kernels()]))
"""


def test_a_cache_that_is_written_at_once_damaged_or_on_a_full_disk(tmp_path):
    """Two processes that fill one cache; then every file of it damaged, each in another way; then no room for it."""
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda _: run(ONE, NUMBA_CACHE_DIR=str(tmp_path / "a")), range(2)))
    files = [file for file in (tmp_path / "a").rglob("*") if file.is_file()]
    assert {file.suffix for file in files} == {".nbc"}
    result = together[0][:2]
    assert result[1] == []
    assert together[1][:2] == result
    assert run(ONE, NUMBA_CACHE_DIR=str(tmp_path / "a")) == [*result, len(files), 0]
    for file, damage in zip(files, cycle(DAMAGE.values())):
        file.write_bytes(damage(file.read_bytes()))
    assert run(ONE, NUMBA_CACHE_DIR=str(tmp_path / "a"))[:-1] == [*result, 0]
    assert run(ONE, NUMBA_CACHE_DIR=str(tmp_path / "a")) == [*result, len(files), 0]
    found, shown, _, _ = run(ONE, "nothing may be written", NUMBA_CACHE_DIR=str(tmp_path / "b"))
    assert found == result[0]
    assert len(shown) == 1
    assert "cannot write compiled code (File too large)" in shown[0]
    assert not [file for file in (tmp_path / "b").rglob("*") if file.is_file()]


def sealed(content):
    """With the checksum of a file that is whole."""
    return hashlib.sha256(content).digest() + content


DAMAGE = {
    "nothing": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "random": lambda content: np.random.default_rng(0).bytes(len(content)),
    "pickle": lambda content: pickle.dumps(("another", "version")),
    "bit": lambda content: content[:-1000] + bytes([content[-1000] ^ 1]) + content[-999:],
    "head": lambda content: b"x" + content[1:],
    "moved": lambda content: sealed(b"cseparatrix.before_it_moved\nCSR\n."),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_and_written_anew(damage, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def hits():
        kernel = cache.compiled(lambda x: 3.0 * x)
        assert kernel(2.0) == 6.0
        return sum(kernel.stats.cache_hits.values())

    assert [hits(), hits()] == [0, 1]
    (file,) = tmp_path.rglob("*.nbc")
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert [hits(), hits()] == [0, 1]


def test_files_of_kernels_are_not_taken_for_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def kernel(factor):
        return cache.compiled(lambda x: factor * x)

    assert kernel(3.0)(2.0) == 6.0
    (three,) = tmp_path.rglob("*.nbc")
    code = three.read_bytes()
    assert kernel(5.0)(2.0) == 10.0
    three.write_bytes(code)
    assert kernel(5.0)(2.0) == 10.0


def test_no_warning_twice(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    cache._warn_uncached.cache_clear()
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert cache.compiled(lambda x: 3.0 * x)(2.0) == 6.0
    assert cache.compiled(lambda x: 5.0 * x)(2.0) == 10.0


def test_an_edited_constant_is_compiled_anew(tmp_path):
    """In a copy of the package: kernels have the constants of other files in them."""
    package = tmp_path / "src" / "separatrix"
    shutil.copytree(Path(cache.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    where = {"PYTHONPATH": str(tmp_path / "src"), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(ONE, **where)[-1] > 0
    assert run(ONE, **where)[-1] == 0
    constant = re.compile(r"^BLOCK = (\d+)", re.MULTILINE)
    file = package / "passes" / "compiled.py"
    edited, changes = constant.subn("BLOCK = 64", file.read_text())
    assert changes == 1
    file.write_text(edited)
    assert run(ONE, **where)[-1] > 0
    assert run(ONE, **where)[-1] == 0


COMPILER = """
    import separatrix
    from numba import njit
    separatrix.Perceptron(max_iter=5).fit(X, y)
    before = "numba.typed.typedlist" in sys.modules, kernels()[1]
    total = njit(lambda values: values.sum())(X[0])
    print(json.dumps([*before, bool(np.isclose(total, X[0].sum())), "numba.typed.typedlist" in sys.modules]))
"""


def test_kernels_that_are_found_do_not_bring_up_the_compiler(filled):
    """It takes a fifth of a second, and is there when something has to be compiled."""
    cache, (_, compiler, _) = filled
    assert compiler is True
    assert run(COMPILER, **cache) == [False, 0, True, True]


EVERYTHING = """
    import separatrix
    from separatrix.fit.online import OnlineClassifier
    names = [n for n in separatrix.__all__ if isinstance(getattr(separatrix, n), type)]
    classes = [c for c in (getattr(separatrix, n) for n in names) if issubclass(c, OnlineClassifier)]
    for cls in classes:
        for data in (X, sp.csr_matrix(X)):
            model = cls(max_iter=3).fit(data, y)
            if hasattr(model, "partial_fit"):
                model.partial_fit(data, y)
    print(json.dumps([len(classes), kernels()]))
"""


def test_no_estimator_compiles_anew():
    """In the usual cache folder: whatever the first process had to compile, the second finds."""
    run(EVERYTHING)
    count, (hits, misses) = run(EVERYTHING)
    assert count >= 18
    assert misses == 0
    assert hits > 2 * count


RULE = """
    from typing import NamedTuple

    import numpy as np
    from numba.extending import register_jitable

    import {settings} as settings

    LIMIT = {limit}
    TABLE = np.array([{table}])
    MANY = ({many}, 1.0)

    @register_jitable
    def rate(m):
        return {rate}

    class Mine(NamedTuple):
        "{comment}"
        margin: float

        def violates(self, m, s):
            return m <= {factor} * self.margin + LIMIT + TABLE[0] + MANY[0] + settings.EXTRA + settings.more(m)

        def gain(self, m, s):
            return rate(m)
"""
SETTINGS = """
    from numba.extending import register_jitable

    EXTRA = {extra}

    @register_jitable
    def more(m):
        return {more}
"""
NUMBERS = {"factor": 1.0, "limit": 0.0, "table": 0.0, "many": 0.0, "rate": 1.0, "extra": 0.0, "more": 0.0}
FIT = """
    sys.path.insert(0, sys.argv[1])
    import separatrix
    from mine import Mine
    separatrix.Perceptron(max_iter=3).fit(X, y)
    before = kernels()
    model = separatrix.PerceptronLike(Mine(1.0), max_iter=50).fit(X, y)
    print(json.dumps([model.n_updates_, model.coef_.tolist(), kernels()[1] - before[1]]))
"""


def write(folder, name="mine", settings="settings", comment="no", **changes):
    """The rule's module and the one it imports, with some of their texts changed."""
    texts = {**NUMBERS, **changes, "comment": comment, "settings": settings}
    (folder / f"{name}.py").write_text(textwrap.dedent(RULE.format(**texts)))
    (folder / f"{settings}.py").write_text(textwrap.dedent(SETTINGS.format(**texts)))


def test_an_edited_rule_is_compiled_anew(tmp_path, filled):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = (X @ [1.0, -2.0, 0.5, 1.0] + 0.3 > 0).astype(int)
    for changes, margin, again in [
        ({}, 1.0, True),
        ({"comment": "a comment is no edit"}, 1.0, False),
        ({"factor": 3.0, "extra": 2.0}, 5.0, True),
    ]:
        write(tmp_path, **changes)
        *found, compiled = run(FIT, str(tmp_path), **filled[0])
        ours = Perceptron(margin=margin, max_iter=50).fit(X, y)
        assert found == [ours.n_updates_, ours.coef_.tolist()]
        assert (compiled > 0) == again


def test_what_counts_as_an_edit(tmp_path, monkeypatch):
    """Formulas, what they call, constants, arrays, and values and functions of other modules; not a comment."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def digest_with(**changes):
        write(tmp_path, "an_edited_rule", "its_settings", **changes)
        for name in ("an_edited_rule", "its_settings"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return digest(importlib.import_module("an_edited_rule").Mine)

    plain = digest_with()
    assert digest_with(comment="other words") == plain
    different = {digest_with(**{name: 7.5}) for name in NUMBERS}
    assert len(different) == len(NUMBERS)
    assert plain not in different
    assert digest_with() == plain


def test_what_kernels_inline_is_part_of_their_key():
    """Kernels take functions and constants from files that are part of the digest, and from nowhere else; otherwise an
    edit there would leave stale machine code."""
    known = tuple(f"separatrix.{place.removesuffix('.py').replace('/', '.')}" for place in cache.INLINED)
    known += ("separatrix.compile_cache",)
    package = Path(cache.__file__).parent
    files = [
        file
        for file in package.rglob("*.py")
        if "\n@on_first_use\n" in file.read_text() or "\n@one_per_rule\n" in file.read_text()
    ]
    assert {"piecewise_loop.py", "rivals.py", "access.py", "compiled.py"} <= {file.name for file in files}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("separatrix"):
                assert node.module.startswith(known), (file, node.module)
