"""A pytest plugin: scikit-learn's test files meet the drop-in classes, and what touches these is noted.

``SEPARATRIX_CONFORMANCE`` names the file that gets the results: a JSON object of test ids, each with its outcome,
"passed", "failed" or "skipped", and whether the test made or fitted one of the classes.
"""

import functools
import json
import os

import pytest

from separatrix import dropin

CLASSES = [getattr(dropin, name) for name in dropin.__all__ if isinstance(getattr(dropin, name), type)]
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
