"""Shared fixtures: the papers' data, skipped with a reason where they are not at hand."""

import pytest

from separatrix import DataError
from separatrix.datasets import load_sonar, load_wbc


def _or_skip(load, **how):
    try:
        return load(**how, download=False)
    except DataError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def sonar():
    return _or_skip(load_sonar)


@pytest.fixture(scope="session")
def wbc():
    return _or_skip(load_wbc)


@pytest.fixture(scope="session")
def separable_wbc():
    return _or_skip(load_wbc, separable=True)
