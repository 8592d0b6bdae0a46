"""How much a file may ask for: a few bytes can stand for more than any memory holds."""

import os

from separatrix.errors import DataError

EXTENT, MOST_EXTENT = "SEPARATRIX_MAX_FEATURES", 10_000_000  # rows or columns of a sparse matrix
UNPACKED, MOST_UNPACKED = "SEPARATRIX_MAX_UNPACKED", 1 << 30  # bytes of what was compressed
PLENTY = 100  # times what the file holds are allowed in any case


def check_extent(name: str, what: str, count: int, stored: int) -> None:
    """Refuse a sparse matrix that is far larger than the number of values that a file stores.

    Vectors of weights are dense, so that one large index in a small file takes memory for all that are below it.
    """
    if count > _most(EXTENT, MOST_EXTENT, stored):
        raise DataError(
            f"{name} has {count:,} {what} and holds {stored:,} values: one of its indices is probably wrong, and "
            f"vectors as long as this take {8e-9 * count:,.1f} GB each. If it is right, set the environment variable "
            f"{EXTENT}={count}."
        )


def check_unpacked(name: str, size: int, packed: int) -> None:
    """Refuse content that is far larger than the compressed file it comes from."""
    most = most_unpacked(packed)
    if size > most:
        raise DataError(
            f"{name} has {packed:,} bytes and unpacks to more than {most:,}. If it is right, unpack it yourself, or "
            f"set the environment variable {UNPACKED} to a number of bytes."
        )


def most_unpacked(packed: int) -> int:
    return _most(UNPACKED, MOST_UNPACKED, packed)


def _most(variable: str, usual: int, held: int) -> int:
    asked = os.environ.get(variable)
    if asked is None:
        return max(usual, PLENTY * held)
    try:
        return int(float(asked))
    except (ValueError, OverflowError) as error:
        raise DataError(f"The environment variable {variable} is {asked!r}; a number is needed.") from error
