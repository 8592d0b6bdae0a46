"""A pytest plugin: scikit-learn's test files meet the drop-in classes, and what touches these is noted.

``SEPARATRIX_CONFORMANCE`` names the file that gets the results: a JSON object of test ids, each with its outcome,
"passed", "failed" or "skipped", and whether the test made or fitted one of the classes. Tests whose code leads to none
of them are left out before they run.
"""

import functools
import json
import os
from types import CodeType, FunctionType

import pytest

from separatrix import dropin

NAMES = [name for name in dropin.__all__ if isinstance(getattr(dropin, name), type)]
CLASSES = [getattr(dropin, name) for name in NAMES]
touched = False
outcomes: dict[str, list] = {}


def noting(method):
    @functools.wraps(method)
    def noted(self, *args, **kwargs):
        global touched
        touched = True
        return method(self, *args, **kwargs)

    return noted


def pytest_configure(config):
    for cls in CLASSES:
        for name in ("__init__", "fit", "partial_fit"):
            if hasattr(cls, name):
                setattr(cls, name, noting(getattr(cls, name)))
    dropin.patch()


def names_in(code):
    """Global names and attributes that a function's code mentions, those of functions inside it included."""
    inside = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(names_in, inside))


def leads_to_a_class(function, seen):
    """Does a test, or a function of its module that it calls, mention one of the classes, or what is made of them?"""
    if function in seen:
        return False
    seen.add(function)
    for name in names_in(function.__code__):
        value = function.__globals__.get(name)
        if name in NAMES or (not callable(value) and any(known in repr(value) for known in NAMES)):
            return True
        own = isinstance(value, FunctionType) and value.__module__ == function.__module__
        if own and leads_to_a_class(value, seen):
            return True
    return False


def pytest_collection_modifyitems(config, items):
    chosen, rest = [], []
    for item in items:
        params = repr(getattr(getattr(item, "callspec", None), "params", ""))
        function = getattr(item, "obj", None)
        test = getattr(function, "__wrapped__", function)
        wanted = any(name in params for name in NAMES) or leads_to_a_class(test, set())
        (chosen if wanted else rest).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=rest)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    global touched
    touched = False
    return (yield)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.nodeid] = [report.outcome, touched]


def pytest_sessionfinish(session):
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    with open(os.environ["SEPARATRIX_CONFORMANCE"] + worker, "w") as file:
        json.dump(outcomes, file)
