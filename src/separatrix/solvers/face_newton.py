"""Newton's steps on the face of the dual, with sweeps of coordinate descent between them.

    minimise |sum alpha_k y_k|^2/2 + sum diagonal_k alpha_k^2/2 - sum alpha_k,   0 <= alpha_k <= cap_k

Hard margin: diagonal 0, cap inf. Squared hinge: diagonal 1/(2 C c), cap inf. Hinge: diagonal 0, cap C c. On a face,
where only the rows F are strictly between their bounds, the minimum is at alpha_F + p with

    (Y_F Y_F^t + diagonal) p = 1 - m_F - diagonal alpha_F,   m = Y a,   a = sum alpha_k y_k

A step that leaves the bounds is projected on them (Bertsekas 1982) and shortened until the objective does not grow;
rows that it puts to a bound leave the face. Sweeps let rows enter and leave. Residuals are those of the rows
themselves: a step corrects the rounding errors of the one before, and what a ridge has changed. Large faces go by
conjugate gradients. Which is cheaper, more sweeps or a face, is a matter of their pace and of counted multiplications.
"""

import math

import numpy as np

from separatrix.passes.patterns import TINY
from separatrix.solvers.dual_sweeps import MOST_SWEEPS, Sweeps
from separatrix.solvers.face_factor import FaceFactor
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

BETWEEN = 8  # sweeps after the steps on a face
STEPS = 6  # on faces, before sweeps
FACTORS, FLOP, ENTRY = 4.0, 0.035, 5.0  # a solution's factors; in visits of a value: a multiplication, an entry
LARGEST = 5000  # rows of a face whose matrix is factored
CG_STEPS, CG_RESIDUAL = 200, 1e-3  # of larger ones
RIDGE, LARGEST_RIDGE = 1e-13, 1e-2  # of |y|^2
SHARES = (1.0, 0.25, 0.0625)  # of a step that are tried
SHORT = 1e-3  # a step within the bounds that asks for a larger ridge
ROUNDING = 1e-14  # of the objective
NOTHING = 1e-12  # of R: a bound on the hard margin that is as good as 0
FUTILE = 60  # rounds without a vector that separates: it may come nearer to one for ever, on rows that have none


def follow(problem: Problem, sweeps: Sweeps) -> None:
    """From the multipliers of some sweeps, until the problem is done."""
    steps, before, count, rounds = FaceSteps(problem), 1.0, BETWEEN, 0
    values = 2.0 * (1.0 + problem.patterns.entries_per_row)
    while True:
        steps.enter(sweeps.alpha)
        gap = problem.gap
        if problem.done() or (problem.hard and problem.upper <= NOTHING * problem.patterns.radius):
            return
        if gap == 1.0 and rounds >= FUTILE:
            return
        fall = math.log(before / gap) if rounds and 0 < gap < before else 0.0
        to_go = count * math.log(gap / max(problem.tol, 1e-16)) / fall if fall > 0 else np.inf
        before, rounds = gap, rounds + 1
        if steps.cost() < to_go * max(sweeps.size, 1) * values:
            steps.run()
            if problem.gap <= problem.tol:
                problem.done()
                return
            count = BETWEEN
        else:
            count = min(2 * count, MOST_SWEEPS)
        sweeps.alpha[:], sweeps.a[:] = steps.alpha, steps.a
        sweeps.bring_back(steps.m)
        sweeps.repeat(count)


class FaceSteps:
    """Multipliers, their combination and its margins."""

    def __init__(self, problem: Problem):
        self.problem, self.caps, self.diagonal = problem, problem.caps, problem.diagonal
        self.factor, self.ridge = FaceFactor(problem, LARGEST), RIDGE

    def enter(self, alpha: Vector) -> None:
        """Enter multipliers and the vector that they combine to."""
        self.alpha, self.a = alpha.copy(), self._combine(alpha)
        self.m = self.problem.margins(self.a)
        self._enter()

    def _enter(self) -> None:
        self.problem.primal(self.a, self.m)
        index = np.flatnonzero(self.alpha)
        self.problem.dual(index, self.alpha[index], self.a)

    def _combine(self, alpha: Vector) -> Vector:
        index = np.flatnonzero(alpha)
        return self.problem.combine(index, alpha[index])

    def face(self) -> np.ndarray:
        return np.flatnonzero((self.alpha > 0) & (self.alpha < self.caps))

    def cost(self) -> float:
        """Of the steps to a solution, in visits of a value."""
        k = float(len(self.face()))
        if k > LARGEST:
            return 2.0 * CG_STEPS * k * self.problem.patterns.entries_per_row
        return FACTORS * k * k * (FLOP * k / 3.0 + ENTRY)

    def run(self) -> None:
        """Steps until one ends within the bounds, and one more to correct its rounding errors."""
        problem, whole = self.problem, False
        for _ in range(STEPS):
            F = self.face()
            if not len(F) or problem.passes >= problem.max_passes or problem.interrupted():
                break
            p = self._direction(F)
            if p is None:
                continue
            y = self.alpha[F] + p
            refined, whole = whole, bool(y.min() >= 0.0 and (y <= self.caps[F]).all())
            self._move(F, p)
            if whole:
                self._enter()
                if refined or problem.gap <= problem.tol:
                    return
        self._enter()

    def _direction(self, F: np.ndarray) -> Vector | None:
        """Newton's step of the rows of a face; None if its matrix is singular."""
        r = 1.0 - self.m - self.diagonal * self.alpha
        if len(F) > LARGEST:
            return self._conjugate_gradients(F, r[F])
        if not self.factor.of(F, self.alpha, self.ridge):
            self.ridge = min(100.0 * self.ridge, LARGEST_RIDGE)
            return None
        p = np.empty(len(r))
        p[self.factor.rows] = self.factor.solve(r[self.factor.rows])
        return p[F]

    def _move(self, F: np.ndarray, p: Vector) -> None:
        """Go along a step, projected on the bounds, or as far as these allow if the objective would grow."""
        x, caps, before = self.alpha[F], self.caps[F], self._value(self.alpha, self.a)
        for step in SHARES:
            self._set(F, np.clip(x + step * p, 0.0, caps))
            if self._value(self.alpha, self.a) >= before - ROUNDING * abs(before):
                break
        else:
            room = np.where(p < 0, x, caps - x) / np.maximum(np.abs(p), TINY)
            step = min(1.0, float(room.min()))
            y = np.clip(x + step * p, 0.0, caps)
            self._set(F, np.where(room > step, y, np.where(p < 0, 0.0, caps)))
        self.ridge = min(100.0 * self.ridge, LARGEST_RIDGE) if step < SHORT else RIDGE if step == 1.0 else self.ridge
        self.m = self.problem.margins(self.a)

    def _set(self, F: np.ndarray, x: Vector) -> None:
        self.alpha = self.alpha.copy()
        self.alpha[F] = x
        self.a = self._combine(self.alpha)

    def _value(self, alpha: Vector, a: Vector) -> float:
        return float(alpha.sum() - 0.5 * (a @ a) - 0.5 * (self.diagonal @ (alpha * alpha)))

    def _conjugate_gradients(self, F: np.ndarray, r: Vector) -> Vector:
        """The same by products with the rows."""
        problem, patterns = self.problem, self.problem.patterns
        diagonal = self.diagonal[F] + self.ridge * self.factor.norm2[F]
        x, q, rr = np.zeros(len(F)), r.copy(), float(r @ r)
        enough = CG_RESIDUAL**2 * rr
        for _ in range(CG_STEPS):
            if rr <= enough or problem.passes >= problem.max_passes or problem.interrupted():
                break
            problem.passes += len(F) / patterns.n
            Gq = patterns.margins_of(F, problem.combine(F, q)) + diagonal * q
            t = rr / float(q @ Gq)
            x += t * q
            r = r - t * Gq
            before, rr = rr, float(r @ r)
            q = r + (rr / before) * q
        return x
