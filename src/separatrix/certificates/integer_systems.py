"""Linear systems of integers, solved exactly, in steps short enough to be interrupted.

Small ones are left to FLINT. Large ones are lifted p-adically (J. D. Dixon, Exact solution of linear equations using
p-adic expansions, 1982): with C = A^-1 modulo p the digits of x = sum x_i p^i are

    x_i = C r_i mod p,    r_{i+1} = (r_i - A x_i) / p,    r_0 = b,

and x is a vector of fractions with one small denominator as soon as enough digits are known. p is so small that dot
products modulo p are exact in float64, where they run at the speed of BLAS.

FLINT's own lifting answers stop requests only if it runs in a child process. There it takes twice as long for 500
unknowns, and 2.5 times as long from 800 on.
"""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cancellation import Clock

PRIMES = (2097143, 2097133, 2097131)  # below 2^21: 2,048 products of residues sum to less than 2^53
BITS = 21
MOST_UNKNOWNS = 2000
PANEL = 32
SHORT = 2e8  # unknowns^3 times bits of what FLINT solves in a tenth of a second
FIRST_DIGITS, MORE_DIGITS = 32, 1.2  # at which fractions are looked for: at first, and times those of the last attempt
SURE_BITS = 40  # by which a fraction is smaller than the modulus, from which it is no accident
FEW_PRODUCTS = 2e7  # modulo p, which it makes in one

LIMB, LIMBS_AT_A_TIME = 16, 512  # bits of a piece of a large number, and pieces of all of them that are combined
WORD = 62  # bits of integers whose sums of two are machine integers

Integers = list[int]
Table = list[Integers] | NDArray[np.int64]  # the latter where the numbers are machine integers


def solve(
    A: Table, b: Integers, clock: Clock, inverse: NDArray[np.float64] | None = None
) -> tuple[Integers, int] | None:
    """x and a denominator > 0 with ``A x = b denominator``, for a square A; None where A is singular.

    The caller checks the result, as proofs are checked: what is returned holds unless A is singular modulo three
    primes at once. ``inverse``: A^-1 modulo the first of them, where it is known.
    """
    k = len(A)
    if k > MOST_UNKNOWNS:
        return None
    if isinstance(A, np.ndarray):
        bits = int(np.abs(A).max()).bit_length()
    else:
        bits = max(max(max(row), -min(row)).bit_length() for row in A)
    clock.look()
    if float(k) ** 3 * bits <= SHORT:
        return _by_flint(A.tolist() if isinstance(A, np.ndarray) else A, b)
    return _by_lifting(A, b, clock, inverse)


def _by_lifting(
    A: Table, b: Integers, clock: Clock, inverse: NDArray[np.float64] | None = None
) -> tuple[Integers, int] | None:
    table = limbs(A)
    if inverse is not None:
        return _lift(table, b, inverse, PRIMES[0], _hadamard(A, b), clock)
    for p in PRIMES:
        columns, _, inverse = independent(residues(table, p), p, clock)
        if len(columns) == len(A):
            return _lift(table, b, inverse, p, _hadamard(A, b), clock)
    return None


def _by_flint(A: list[Integers], b: Integers) -> tuple[Integers, int] | None:
    from flint import fmpz_mat

    try:
        x: Any = fmpz_mat(A).solve(fmpz_mat([[v] for v in b]))
    except ZeroDivisionError:
        return None
    values = [x[i, 0] for i in range(len(A))]
    denominator = 1
    for v in values:
        q = int(v.q)
        denominator = denominator // gcd(denominator, q) * q
    return [int(v.p) * (denominator // int(v.q)) for v in values], denominator


def limbs(A: Table, bits: int = BITS) -> list[NDArray[np.float64]]:
    """A in pieces of so many bits with the sign of the entry: ``A = sum L_i 2^(bits i)``."""
    table: Any = A if isinstance(A, np.ndarray) else np.array(A, dtype=object)
    sign, table, pieces = np.where(table < 0, -1.0, 1.0), abs(table), []
    while True:
        pieces.append(sign * (table & (1 << bits) - 1).astype(np.float64))
        table = table >> bits
        if not np.any(table != 0):
            return pieces


def residues(pieces: list[NDArray[np.float64]], p: int, bits: int = BITS) -> NDArray[np.float64]:
    total = np.zeros_like(pieces[0])
    for i, piece in enumerate(pieces):
        total = _mod(total + float(pow(2, bits * i, p)) * piece, p)
    return total


def _mod(x: NDArray[np.float64], p: int) -> NDArray[np.float64]:
    """x modulo p for integers below 2^53; several times faster than numpy's, whose remainder is right for all floats.

    The quotient is rounded, so that it may be wrong by 1.
    """
    x = x - np.floor(x * (1.0 / p)) * p
    x += p * (x < 0)
    x -= p * (x >= p)
    return x


def is_short(A: NDArray[np.float64]) -> bool:
    """Does FLINT reduce it sooner than matrix products do?"""
    return float(len(A)) * A.size <= FEW_PRODUCTS


def basis(
    A: NDArray[np.float64], p: int, clock: Clock
) -> tuple[NDArray[np.intp], list[int], NDArray[np.float64] | None]:
    """Return rows and columns of a regular part of A modulo p, of the rank of A, the first such rows if it is tall.

    The third is the inverse of the transposed part, if it is at hand.
    """
    if len(A) > 2 * A.shape[1]:
        found = basis(A[: 2 * A.shape[1]], p, clock)
        if len(found[1]) == A.shape[1]:
            return found
    elif is_short(A):
        rows = basis_columns(np.ascontiguousarray(A.T), p, clock)
        columns = basis_columns(A[rows], p, clock) if len(rows) < A.shape[1] else list(range(A.shape[1]))
        return np.array(rows, dtype=np.intp), columns, None
    if len(A) > A.shape[1]:
        rows, columns, T = independent(np.ascontiguousarray(A.T), p, clock)
        return np.array(rows, dtype=np.intp), columns, T[: len(rows), columns]
    columns, rows, T = independent(A, p, clock)
    return np.array(rows, dtype=np.intp), columns, T[: len(rows), rows].T


def basis_columns(A: NDArray[np.float64], p: int, clock: Clock) -> list[int]:
    """The first columns of A that are a basis of all modulo p."""
    k, width = A.shape
    if not is_short(A):
        return independent(A, p, clock)[0]
    from flint import nmod_mat

    reduced, rank = nmod_mat(k, width, A.astype(np.int64).ravel().tolist(), p).rref()
    rows = reduced.tolist()[:rank]
    return [next(j for j, value in enumerate(row) if int(value)) for row in rows]


def independent(A: NDArray[np.float64], p: int, clock: Clock) -> tuple[list[int], list[int], NDArray[np.float64]]:
    """The first columns of A that are a basis of all modulo p, as many independent rows, and T with
    ``T A[:, columns] = I``: Gauss and Jordan.

    What is independent modulo p is independent. T is square: its first rows belong to the columns.
    """
    k, width = A.shape
    T = np.eye(k)
    pivots: list[int] = []
    order = np.arange(k)
    first = -PANEL
    while (rank := len(pivots)) < k and (first := first + PANEL) < width:
        panel = _mod(T @ A[:, first : first + PANEL], p)
        if not panel[rank:].any():  # on to the next column that is not a combination
            left = np.flatnonzero(_mod(T[rank:] @ A[:, first:], p).any(axis=0))
            if not len(left):
                break
            first += int(left[0]) - PANEL
            continue
        E = np.zeros((k, panel.shape[1]))  # what is done to T: T + E T[rank:], the pivots' own rows being replaced
        for j in range(panel.shape[1]):
            clock.look()
            row = len(pivots)
            candidates = np.flatnonzero(panel[row:, j])
            if not len(candidates):
                continue
            other = row + int(candidates[0])
            if other != row:
                for M in (T, panel, E, order):
                    M[[row, other]] = M[[other, row]]
            scale, factor = float(pow(int(panel[row, j]), -1, p)), panel[:, j].copy()
            factor[row] = 0.0
            E[row, row - rank] += 1.0
            for M in (panel, E):
                M[row] = _mod(M[row] * scale, p)
                M[:] = _mod(M - factor[:, None] * M[row], p)
            pivots.append(first + j)
            if len(pivots) == k:
                break
        chosen = T[rank : len(pivots)].copy()
        T[rank : len(pivots)] = 0.0
        for begin in range(0, k, 512):
            clock.look()
            part = slice(begin, begin + 512)
            T[:, part] = _mod(T[:, part] + E[:, : len(chosen)] @ chosen[:, part], p)
    return pivots, order[: len(pivots)].tolist(), T


def _hadamard(A: Table, b: Integers) -> int:
    """Bits of a bound on every determinant of Cramer's rule."""
    if isinstance(A, np.ndarray):  # each square rounded by less than a bit
        squares = np.frexp(np.square(A.astype(np.float64)).sum(axis=1))[1].tolist()
        rows = sum(max(square, (v * v).bit_length()) + 2 for square, v in zip(squares, b, strict=True))
    else:
        rows = sum((sum(x * x for x in row) + v * v).bit_length() for row, v in zip(A, b, strict=True))
    return rows // 2 + len(A) // 2 + 2


def _lift(
    table: list[NDArray[np.float64]], b: Integers, inverse: NDArray[np.float64], p: int, bits: int, clock: Clock
) -> tuple[Integers, int] | None:
    from flint import fmpz

    enough = 2 * (bits + 1) // (p.bit_length() - 1) + 2
    # residuals are below the largest sum of a row, or of b: as machine integers they are divided by the inverse of p
    # modulo 2^64, where nothing but the quotient has to fit
    largest = sum(int(np.abs(piece).max()) << BITS * i for i, piece in enumerate(table))
    machine = max(len(b) * largest, *map(abs, b)) < 1 << WORD
    inverse_of_p = pow(p, -1, 1 << 64)
    quotient = np.int64(inverse_of_p - (1 << 64) if inverse_of_p >= 1 << 63 else inverse_of_p)
    residual: Any = np.array(b, dtype=np.int64 if machine else object)
    digits: list[NDArray[np.float64]] = []
    attempt, tried = FIRST_DIGITS, [0, len(b) - 1]  # mostly, the denominator of one number is that of all
    while True:
        clock.look()
        x = _mod(inverse @ (residual % p).astype(np.float64), p)
        digits.append(x)
        product: Any = 0
        for i, piece in enumerate(table):
            product = product + ((piece @ x).astype(np.int64).astype(residual.dtype) << BITS * i)
        residual = (residual - product) * quotient if machine else (residual - product) // p
        if len(digits) >= min(attempt, enough):
            modulus = fmpz(p) ** len(digits)
            few = _fractions(_joined([x[tried] for x in digits], p, clock), modulus, clock)
            if len(digits) < enough and not _settled(few, modulus):
                attempt = int(attempt * MORE_DIGITS)
                continue
            found = _fractions(_joined(digits, p, clock), modulus, clock)
            if found is not None or len(digits) >= enough:
                return found
            attempt *= 2


def pieces_combine_to_zero(pieces: list[NDArray[np.float64]], weight: Integers, clock: Clock) -> bool:
    """Is ``sum_k weight_k table_k = 0`` in all columns of a table in pieces of `LIMB` bits, for weights >= 0?

    The weights are cut into such pieces too: products of pieces sum to less than 2^53, the floats' integers, at the
    speed of BLAS; then what is above a piece is carried to the next.
    """
    width = pieces[0].shape[1]
    pieces = [piece.T.copy() for piece in pieces]
    size = -(-max(w.bit_length() for w in weight) // LIMB)
    before = len(pieces) - 1
    digits = np.zeros((len(weight), before + size + before), np.dtype("<u2"))
    for line, w in zip(digits, weight, strict=True):
        line[before : before + size] = np.frombuffer(w.to_bytes(2 * size, "little"), "<u2")
    carry = np.zeros(width, np.int64)
    for first in range(before, digits.shape[1], LIMBS_AT_A_TIME):
        clock.look()
        last = min(first + LIMBS_AT_A_TIME, digits.shape[1])
        sums = np.zeros((last - first, width))
        for i, piece in enumerate(pieces):
            sums += (piece @ digits[:, first - i : last - i].astype(np.float64)).T
        for sum_of_pieces in sums.astype(np.int64):
            carry += sum_of_pieces
            if (carry & (1 << LIMB) - 1).any():
                return False
            carry >>= LIMB
    return not np.any(carry)


def _settled(found: tuple[Integers, int] | None, modulus: Any) -> bool:
    """Are these fractions smaller than what any numbers modulo ``modulus`` are fractions of?"""
    if found is None:
        return False
    numerators, denominator = found
    sizes = max(abs(n) for n in numerators).bit_length() + denominator.bit_length()
    return sizes + SURE_BITS <= int(modulus).bit_length()


def _joined(digits: list[NDArray[np.float64]], p: int, clock: Clock) -> list[Any]:
    """sum x_i p^i, neighbours first: three of them in 64 bits, then as FLINT's integers, whose products are faster."""
    from flint import fmpz

    threes = [sum(x.astype(np.int64) * p**i for i, x in enumerate(digits[j : j + 3])) for j in range(0, len(digits), 3)]
    parts: list[Any] = [np.array([fmpz(v) for v in three.tolist()], dtype=object) for three in threes]
    base = fmpz(p) ** 3
    while len(parts) > 1:
        clock.look()
        pairs = [parts[i] + parts[i + 1] * base for i in range(0, len(parts) - 1, 2)]
        parts, base = pairs + parts[len(pairs) * 2 :], base * base
    return parts[0].tolist()


def _fractions(x: list[Any], modulus: Any, clock: Clock) -> tuple[Integers, int] | None:
    """Integers n and one denominator with ``n = x denominator`` modulo ``modulus``, all below its root; or None."""
    limit, denominator = (modulus // 2).isqrt(), 1
    numerators: list[Any] = []
    for v in x:
        clock.look()
        n = _balanced(v * denominator, modulus)
        if abs(n) > limit:
            more = _denominator(n % modulus, modulus, limit, clock)
            denominator *= more
            if denominator > limit:
                return None
            numerators = [m * more for m in numerators]
            n = _balanced(v * denominator, modulus)
        numerators.append(n)
    if max(map(abs, numerators)) > limit:
        return None
    return [int(n) for n in numerators], int(denominator)


def _balanced(v: Any, modulus: Any) -> Any:
    v %= modulus
    return v - modulus if 2 * v > modulus else v


def _denominator(v: Any, modulus: Any, limit: Any, clock: Clock) -> Any:
    """The q of v = n/q modulo ``modulus`` with |n| <= limit (Wang's rational reconstruction)."""
    r0, r1, t0, t1, steps = modulus, v, 0, 1, 0
    while r1 > limit:
        q, r = divmod(r0, r1)
        r0, r1, t0, t1 = r1, r, t1, t0 - q * t1
        steps += 1
        if not steps % 1000:
            clock.look()
    return abs(t1)
