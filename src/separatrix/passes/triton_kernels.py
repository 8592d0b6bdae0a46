"""Fused passes over row-major float32 or float64 rows on a CUDA device, in Triton: each value is read once.

Rows are converted to float64 as they arrive: a margin, a slack and every sum that a certificate needs are float64; only
the Hessian, which decides no more than the next step, is a sum of float32 products. Row numbers are 64-bit. The sums of
a program and those of all programs are added in a fixed order; rows that are found come back unordered.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

from separatrix.data.device import DeviceRows
from separatrix.space import Vector

ROWS = 128  # of a tile: many small programs keep memory busier than few that fetch ahead
SLACK_ROWS, TILES = 16, 256  # rows of a tile of `_slacks`, for one warp, and tiles of a program, which adds their sums
CURVATURE_ROWS, CURVATURE_PROGRAMS = 32, 132 * 16  # of `_curvature`
ENOUGH = 1 << 22  # rows of which a Hessian is made, at least; every tile of fewer rows than these, else one of several
WIDEST = 128  # columns up to which a tile and the Hessian's sums stay in registers


@triton.jit
def _margins(X, codes, a, r, n, positive, D: tl.constexpr, WIDTH: tl.constexpr):
    """The rows with numbers ``r`` as they are, whether they exist, whether l = +1, and l (a.x + a_d) in float64."""
    c = tl.arange(0, WIDTH)
    inside = r < n
    x = tl.load(X + r[:, None] * D + c[None, :], mask=inside[:, None] & (c[None, :] < D), other=0.0)
    plus = tl.load(codes + r, mask=inside, other=0) == positive
    p = tl.sum(x.to(tl.float64) * tl.load(a + c, mask=c < D, other=0.0)[None, :], axis=1) + tl.load(a + D)
    return x, inside, plus, tl.where(plus, p, -p)


@triton.jit
def _below(X, codes, u, limit, index, value, count, n, positive, room, D: tl.constexpr, WIDTH: tl.constexpr,
           ROWS: tl.constexpr):  # fmt: skip
    """Rows with l (u.x + u_d) <= limit, their numbers and margins; count: how many, and how many are errors."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    _x, inside, _plus, m = _margins(X, codes, u, r, n, positive, D, WIDTH)
    hit = (~(m > tl.load(limit))) & inside  # NaN is found as well
    wrong = (~(m > 0.0)) & inside
    hits = tl.sum(hit.to(tl.int32), axis=0)
    if hits > 0:
        where = tl.atomic_add(count, hits.to(tl.int64)) + tl.cumsum(hit.to(tl.int32), axis=0) - 1
        tl.store(index + where, r, mask=hit & (where < room))
        tl.store(value + where, m, mask=hit & (where < room))
    errors = tl.sum(wrong.to(tl.int32), axis=0)
    if errors > 0:
        tl.atomic_add(count + 1, errors.to(tl.int64))


@triton.jit
def _sizes(X, largest, total, n, D: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """The largest |x|^2 and the sum of them, one of each per program; NaN stays in the sum."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, WIDTH)
    x = tl.load(X + r[:, None] * D + c[None, :], mask=(r < n)[:, None] & (c[None, :] < D), other=0.0).to(tl.float64)
    square = tl.sum(x * x, axis=1)
    tl.store(largest + tl.program_id(0), tl.max(square, axis=0))
    tl.store(total + tl.program_id(0), tl.sum(square, axis=0))


@triton.jit
def _slacks(X, codes, price, a, n, positive, sums, pull, D: tl.constexpr, HEAD: tl.constexpr, TAIL: tl.constexpr,
            ROWS: tl.constexpr, TILES: tl.constexpr, WEIGHTED: tl.constexpr):  # fmt: skip
    """Over rows with s = 1 - l (a.x + a_d) > 0: the sums of c s^2, c s, c s l and 1 and the smallest margin (sums), and
    of c s l x (pull); one of each per program. A row is read in two parts, whose widths are powers of two: what is
    filled up with zeros costs arithmetic, and this kernel has more of it than time to wait for memory."""
    pid = tl.program_id(0).to(tl.int64)
    zero = tl.zeros((ROWS,), tl.float64)
    squares, slack, signed, smallest = zero, zero, zero, zero + float("inf")
    active = tl.zeros((ROWS,), tl.int32)
    c = tl.arange(0, HEAD)
    head, v = tl.load(a + c)[None, :], tl.zeros((ROWS, HEAD), tl.float64)
    if TAIL > 0:
        t = HEAD + tl.arange(0, TAIL)
        tail, w = tl.load(a + t, mask=t < D, other=0.0)[None, :], tl.zeros((ROWS, TAIL), tl.float64)
    bias = tl.load(a + D)
    for k in range(TILES):
        r = (pid * TILES + k) * ROWS + tl.arange(0, ROWS)
        inside = r < n
        x = tl.load(X + r[:, None] * D + c[None, :], mask=inside[:, None], other=0.0).to(tl.float64)
        p = tl.sum(x * head, axis=1) + bias
        if TAIL > 0:
            z = tl.load(X + r[:, None] * D + t[None, :], mask=inside[:, None] & (t[None, :] < D), other=0.0)
            z = z.to(tl.float64)
            p += tl.sum(z * tail, axis=1)
        plus = tl.load(codes + r, mask=inside, other=0) == positive
        m = tl.where(plus, p, -p)
        smallest = tl.minimum(smallest, tl.where(inside, m, float("inf")))
        on = (m < 1.0) & inside
        s = tl.where(on, 1.0 - m, 0.0)
        active += on.to(tl.int32)
        cs = s
        if WEIGHTED:
            cs = s * tl.load(price + r, mask=inside, other=0.0)
        csl = tl.where(plus, cs, -cs)
        squares += cs * s
        slack += cs
        signed += csl
        v += x * csl[:, None]
        if TAIL > 0:
            w += z * csl[:, None]
    tl.store(sums + pid * 5, tl.sum(squares, axis=0))
    tl.store(sums + pid * 5 + 1, tl.sum(slack, axis=0))
    tl.store(sums + pid * 5 + 2, tl.sum(signed, axis=0))
    tl.store(sums + pid * 5 + 3, tl.sum(active, axis=0).to(tl.float64))
    tl.store(sums + pid * 5 + 4, tl.min(smallest, axis=0))
    tl.store(pull + pid * D + c, tl.sum(v, axis=0))
    if TAIL > 0:
        tl.store(pull + pid * D + t, tl.sum(w, axis=0), mask=t < D)


@triton.jit
def _curvature(X, codes, price, a, n, positive, every, weights, middle, H, D: tl.constexpr, WIDTH: tl.constexpr,
               ROWS: tl.constexpr, WEIGHTED: tl.constexpr):  # fmt: skip
    """Over the rows with a slack in every so-manieth tile: the sums of c, c x and c x x^t; one of each per program."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    weight, g = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS, WIDTH), tl.float32)
    h = tl.zeros((WIDTH, WIDTH), tl.float32)
    for k in range(pid, tl.cdiv(tl.cdiv(n, ROWS), every), programs):
        r = k * tl.full((1,), ROWS, tl.int64) * every + tl.arange(0, ROWS)
        x, inside, _plus, m = _margins(X, codes, a, r, n, positive, D, WIDTH)
        price_k = tl.where((m < 1.0) & inside, 1.0, 0.0)
        if WEIGHTED:
            price_k *= tl.load(price + r, mask=inside, other=0.0).to(tl.float32)
        z = x.to(tl.float32) * tl.sqrt(price_k)[:, None]
        weight += price_k
        g += x.to(tl.float32) * price_k[:, None]
        h += tl.dot(tl.trans(z), z, input_precision="tf32x3")
    c = tl.arange(0, WIDTH)
    tl.store(weights + pid, tl.sum(weight, axis=0))
    tl.store(middle + pid * WIDTH + c, tl.sum(g, axis=0))
    tl.store(H + pid * WIDTH * WIDTH + c[:, None] * WIDTH + c[None, :], h)


class Found(NamedTuple):
    """Rows at or below a limit: how many there are, how many errors there are, and some or all of them."""

    number: int
    errors: int
    index: Any
    value: Any


class Sums(NamedTuple):
    """Over rows with a slack: sum c s^2, sum c s, sum c s l, their number; the smallest margin; sum c s l x."""

    squares: float
    slack: float
    signed: float
    active: int
    smallest: float
    pull: Vector


def below(rows: DeviceRows, positive: int, u: Vector, limit: float, room: int) -> Found:
    """``u``: the vector with the bias itself at its end. At most ``room`` of the rows come back, in any order."""
    device = rows.X.device
    index = torch.empty(room, dtype=torch.int64, device=device)
    value = torch.empty(room, dtype=torch.float64, device=device)
    count = torch.zeros(2, dtype=torch.int64, device=device)
    highest = torch.tensor([limit], dtype=torch.float64, device=device)
    _below[(triton.cdiv(rows.n, ROWS),)](rows.X, rows.codes, rows.vector(u), highest, index, value, count, rows.n,
                                         positive, room, rows.width, _width(rows), ROWS)  # fmt: skip
    found, errors = count.tolist()
    there = min(found, room)
    return Found(found, errors, index[:there], value[:there])


def sizes(rows: DeviceRows) -> tuple[float, float]:
    """The largest |x|^2 and the sum of |x|^2."""
    programs = triton.cdiv(rows.n, ROWS)
    largest, total = (torch.empty(programs, dtype=torch.float64, device=rows.X.device) for _ in range(2))
    _sizes[(programs,)](rows.X, largest, total, rows.n, rows.width, _width(rows), ROWS)
    return float(largest.max()), float(total.sum())


def slacks(rows: DeviceRows, positive: int, a: Vector) -> Sums:
    """``a``: the vector with the bias itself at its end."""
    d, device = rows.width, rows.X.device
    head = 1 << (d.bit_length() - 1)
    tail = triton.next_power_of_2(d - head) if d > head else 0
    programs = triton.cdiv(rows.n, SLACK_ROWS * TILES)
    sums = torch.empty(programs, 5, dtype=torch.float64, device=device)
    pull = torch.empty(programs, d, dtype=torch.float64, device=device)
    _slacks[(programs,)](rows.X, rows.codes, _price(rows), rows.vector(a), rows.n, positive, sums, pull, d, head, tail,
                         SLACK_ROWS, TILES, rows.weight is not None, num_warps=1)  # fmt: skip
    squares, slack, signed, active, _ = sums.sum(dim=0).tolist()
    return Sums(squares, slack, signed, int(active), float(sums[:, 4].min()), pull.sum(dim=0).cpu().numpy())


def curvature(rows: DeviceRows, positive: int, a: Vector, part: int) -> tuple[float, Vector, np.ndarray]:
    """sum c, sum c x and sum c x x^t over rows with a slack, from one tile of ``part``, as if all were like these."""
    d, width, device = rows.width, max(16, _width(rows)), rows.X.device
    programs = min(CURVATURE_PROGRAMS, triton.cdiv(triton.cdiv(rows.n, CURVATURE_ROWS), part))
    weights = torch.empty(programs, device=device)
    middle = torch.empty(programs, width, device=device)
    H = torch.empty(programs, width, width, device=device)
    _curvature[(programs,)](rows.X, rows.codes, _price(rows), rows.vector(a), rows.n, positive, part, weights, middle,
                            H, d, width, CURVATURE_ROWS, rows.weight is not None)  # fmt: skip
    whole = (v.double().sum(dim=0) * part for v in (weights, middle, H))
    weight, mean, matrix = (v.cpu().numpy() for v in whole)
    return float(weight), mean[:d], matrix[:d, :d]


def _width(rows: DeviceRows) -> int:
    return triton.next_power_of_2(rows.width)


def _price(rows: DeviceRows) -> Any:
    """The weights, or anything that is there instead."""
    return rows.codes if rows.weight is None else rows.weight
