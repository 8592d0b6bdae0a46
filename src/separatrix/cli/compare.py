"""``separatrix compare``: every applicable algorithm on the same data."""

from separatrix.cli import options


def compare(data: options.MaybeData = None) -> None:
    """Compare."""
