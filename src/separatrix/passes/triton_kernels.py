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

from separatrix.rows.device import DeviceRows
from separatrix.space import Vector

ROWS, TILES, WARPS = 128, 8, 4  # rows of a tile of `_below` and `_sizes`, tiles of a program, its warps
PROGRAMS = 132 * 4  # of `_piece`, each with sums of its own
TILE_VALUES, PIECE_WARPS, STAGES = 2048, 4, 3  # values of its tile, its warps, tiles on their way
WIDEST = 128  # columns up to which a tile and the Hessian's sums stay in registers


@triton.jit
def _below(X, codes, u, limit, index, value, count, n, positive, room, D: tl.constexpr, WIDTH: tl.constexpr,
           ROWS: tl.constexpr, TILES: tl.constexpr):  # fmt: skip
    """Rows with l (u.x + u_d) <= limit, their numbers and margins; count: how many, and how many are errors."""
    c = tl.arange(0, WIDTH)
    w = tl.load(u + c, mask=c < D, other=0.0)
    bias = tl.load(u + D)
    highest = tl.load(limit)
    for k in range(TILES):
        r = (tl.program_id(0).to(tl.int64) * TILES + k) * ROWS + tl.arange(0, ROWS)
        inside = r < n
        x = tl.load(X + r[:, None] * D + c[None, :], mask=inside[:, None] & (c[None, :] < D), other=0.0)
        plus = tl.load(codes + r, mask=inside, other=0) == positive
        p = tl.sum(x.to(tl.float64) * w[None, :], axis=1) + bias
        m = tl.where(plus, p, -p)
        hit = (~(m > highest)) & inside  # NaN is found as well
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
def _sizes(X, largest, total, n, D: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, TILES: tl.constexpr):
    """The largest |x|^2 and the sum of them, one of each per program; NaN stays in the sum."""
    c = tl.arange(0, WIDTH)
    top, whole = tl.zeros((ROWS,), tl.float64), tl.zeros((ROWS,), tl.float64)
    for k in range(TILES):
        r = (tl.program_id(0).to(tl.int64) * TILES + k) * ROWS + tl.arange(0, ROWS)
        x = tl.load(X + r[:, None] * D + c[None, :], mask=(r < n)[:, None] & (c[None, :] < D), other=0.0).to(tl.float64)
        square = tl.sum(x * x, axis=1)
        top = tl.maximum(top, square)
        whole += square
    tl.store(largest + tl.program_id(0), tl.max(top, axis=0))
    tl.store(total + tl.program_id(0), tl.sum(whole, axis=0))


@triton.jit
def _piece(X, codes, price, a, n, positive, sums, pull, middle, H, D: tl.constexpr, WIDTH: tl.constexpr,
           ROWS: tl.constexpr, WEIGHTED: tl.constexpr, HESSIAN: tl.constexpr):  # fmt: skip
    """Over rows with s = 1 - l (a.x + a_d) > 0: the sums of c s^2, c s, c s l, c and 1 and the smallest margin (sums),
    of c s l x (pull), c x (middle) and c x x^t (H); one of each per program."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    c = tl.arange(0, WIDTH)
    w = tl.load(a + c, mask=c < D, other=0.0)
    bias = tl.load(a + D)
    zero = tl.zeros((ROWS,), tl.float64)
    squares, slack, signed, weight, active, smallest = zero, zero, zero, zero, zero, zero + float("inf")
    v, g = tl.zeros((ROWS, WIDTH), tl.float64), tl.zeros((ROWS, WIDTH), tl.float32)
    h = tl.zeros((WIDTH, WIDTH), tl.float32)
    for k in range(pid, tl.cdiv(n, ROWS), programs):
        r = k * tl.full((1,), ROWS, tl.int64) + tl.arange(0, ROWS)
        inside = r < n
        x = tl.load(X + r[:, None] * D + c[None, :], mask=inside[:, None] & (c[None, :] < D), other=0.0)
        plus = tl.load(codes + r, mask=inside, other=0) == positive
        wide = x.to(tl.float64)
        p = tl.sum(wide * w[None, :], axis=1) + bias
        m = tl.where(plus, p, -p)
        smallest = tl.minimum(smallest, tl.where(inside, m, float("inf")))
        s = 1.0 - m
        on = (s > 0.0) & inside
        s = tl.where(on, s, 0.0)
        c_k = tl.where(on, 1.0, 0.0).to(tl.float64)
        active += c_k
        if WEIGHTED:
            c_k = tl.where(on, tl.load(price + r, mask=inside, other=0.0), 0.0)
        cs = c_k * s
        csl = tl.where(plus, cs, -cs)
        squares += cs * s
        slack += cs
        signed += csl
        weight += c_k
        v += wide * csl[:, None]
        if HESSIAN:
            z = x.to(tl.float32) * tl.sqrt(c_k.to(tl.float32))[:, None]
            g += x.to(tl.float32) * c_k.to(tl.float32)[:, None]
            h += tl.dot(tl.trans(z), z, input_precision="tf32x3")
    tl.store(sums + pid * 6, tl.sum(squares, axis=0))
    tl.store(sums + pid * 6 + 1, tl.sum(slack, axis=0))
    tl.store(sums + pid * 6 + 2, tl.sum(signed, axis=0))
    tl.store(sums + pid * 6 + 3, tl.sum(weight, axis=0))
    tl.store(sums + pid * 6 + 4, tl.sum(active, axis=0))
    tl.store(sums + pid * 6 + 5, tl.min(smallest, axis=0))
    tl.store(pull + pid * WIDTH + c, tl.sum(v, axis=0))
    if HESSIAN:
        tl.store(middle + pid * WIDTH + c, tl.sum(g, axis=0))
        tl.store(H + pid * WIDTH * WIDTH + c[:, None] * WIDTH + c[None, :], h)


class Found(NamedTuple):
    """Rows at or below a limit: how many there are, how many errors there are, and some or all of them."""

    number: int
    errors: int
    index: Any
    value: Any


def below(rows: DeviceRows, positive: int, u: Vector, limit: float, room: int) -> Found:
    """``u``: the vector with the bias itself at its end. At most ``room`` of the rows come back, in any order."""
    device = rows.X.device
    index = torch.empty(room, dtype=torch.int64, device=device)
    value = torch.empty(room, dtype=torch.float64, device=device)
    count = torch.zeros(2, dtype=torch.int64, device=device)
    highest = torch.tensor([limit], dtype=torch.float64, device=device)
    grid = (triton.cdiv(rows.n, ROWS * TILES),)
    _below[grid](rows.X, rows.codes, rows.vector(u), highest, index, value, count, rows.n, positive, room, rows.width,
                 triton.next_power_of_2(rows.width), ROWS, TILES, num_warps=WARPS)  # fmt: skip
    found, errors = count.tolist()
    there = min(found, room)
    return Found(found, errors, index[:there], value[:there])


def sizes(rows: DeviceRows) -> tuple[float, float]:
    """The largest |x|^2 and the sum of |x|^2."""
    programs = triton.cdiv(rows.n, ROWS * TILES)
    largest, total = (torch.empty(programs, dtype=torch.float64, device=rows.X.device) for _ in range(2))
    _sizes[(programs,)](rows.X, largest, total, rows.n, rows.width, triton.next_power_of_2(rows.width), ROWS, TILES,
                        num_warps=WARPS)  # fmt: skip
    return float(largest.max()), float(total.sum())


def piece(rows: DeviceRows, positive: int, a: Vector, hessian: bool) -> tuple[np.ndarray, Vector, Vector, np.ndarray]:
    """``a``: the vector with the bias itself at its end. Six sums, and those of c s l x, c x, c x x^t."""
    d, device = rows.width, rows.X.device
    width = max(16, triton.next_power_of_2(d))
    tile = max(16, min(TILE_VALUES // width, 128))
    programs = min(PROGRAMS, triton.cdiv(rows.n, tile))
    sums = torch.empty(programs, 6, dtype=torch.float64, device=device)
    pull = torch.empty(programs, width, dtype=torch.float64, device=device)
    middle = torch.empty(programs if hessian else 1, width, device=device)
    H = torch.empty(programs if hessian else 1, width, width, device=device)
    price = rows.codes if rows.weight is None else rows.weight
    _piece[(programs,)](rows.X, rows.codes, price, rows.vector(a), rows.n, positive, sums, pull, middle, H, d, width,
                        tile, rows.weight is not None, hessian, num_warps=PIECE_WARPS, num_stages=STAGES)  # fmt: skip
    smallest = sums[:, 5].min()
    total = sums.sum(dim=0)
    total[5] = smallest
    out = total.cpu().numpy(), pull.sum(dim=0)[:d].cpu().numpy()
    if not hessian:
        return (*out, np.zeros(0), np.zeros((0, 0)))
    return (*out, middle.double().sum(dim=0)[:d].cpu().numpy(), H.double().sum(dim=0)[:d, :d].cpu().numpy())
