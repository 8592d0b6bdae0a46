"""Shared fixtures: the papers' data; where they are not at hand, `paper_data` says what happens."""

import signal

import pytest
from paper_data import at_hand

from separatrix.datasets import load_sonar, load_wbc

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as shells start what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sonar():
    return at_hand(load_sonar)


@pytest.fixture(scope="session")
def wbc():
    return at_hand(load_wbc)


@pytest.fixture(scope="session")
def separable_wbc():
    return at_hand(load_wbc, separable=True)
