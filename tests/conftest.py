"""Shared fixtures: random numbers, and the papers' data; where they are not at hand, `paper_data` says what happens."""

import gc
import os
import signal

import numpy as np
import pytest
from hypothesis import settings
from paper_data import at_hand

from separatrix.reproductions.datasets import load_sonar, load_wbc

os.environ.setdefault("SEPARATRIX_COMPILE", "always")  # results are bitwise identical, whichever test runs first
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as shells start what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the first fit of a rule compiles it, and a busy machine is no failure.
settings.register_profile("repeatable", deadline=None, derandomize=True)  # whether a change passes is no matter of luck
settings.register_profile("exploring", deadline=None)  # SEPARATRIX_EXPLORE=1 pytest: other examples in every run
settings.load_profile("exploring" if os.environ.get("SEPARATRIX_EXPLORE") else "repeatable")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Modules and thousands of tests stay until the end: nobody need look for garbage among them, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # compilers make many objects and few cycles
        gc.enable()


@pytest.fixture
def rng():
    """The same numbers for a test whichever tests ran before it: a generator of the module would remember them."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def sonar():
    return at_hand(load_sonar)


@pytest.fixture(scope="session")
def wbc():
    return at_hand(load_wbc)


@pytest.fixture(scope="session")
def separable_wbc():
    return at_hand(load_wbc, separable=True)
