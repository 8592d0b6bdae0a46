"""The papers' data, or a test that is skipped; with SEPARATRIX_REQUIRE_DATA set, a test that fails."""

import os

import pytest

from separatrix import DataError


def at_hand(load, **how):
    """What ``load`` finds without a network."""
    try:
        return load(**how, download=False)
    except DataError as error:
        if os.environ.get("SEPARATRIX_REQUIRE_DATA"):
            pytest.fail(f"SEPARATRIX_REQUIRE_DATA is set, and the data are not at hand: {error}")
        pytest.skip(str(error))
