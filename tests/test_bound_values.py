"""Every bound equals its formula: in exact fractions if it has a closed form, else through the equation it solves.

`test_bounds` shows that fits stay within the bounds, on data on which most of them are loose. A bound that is too
large by a factor would pass there; it fails here.
"""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix import bounds

DRAWS = 25


def exact(value):
    """The fraction that a float is."""
    return Fraction(float(value))


class Draw:
    """Random parameters that are exact in float64: multiples of 1/64."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, low=1 / 64, high=8.0):
        return float(self.rng.integers(round(low * 64), round(high * 64) + 1)) / 64

    def whole(self, low, high):
        return int(self.rng.integers(low, high + 1))


def stages(first, target):
    """1 + 4 + ... + 4^j, j the first for which first/2^j <= target."""
    total, power = Fraction(1), 0
    while exact(first) / 2**power > exact(target):
        power += 1
        total += Fraction(4) ** power
    return total


def of_radius_and_margin(formula):
    def case(draw):
        R, g = draw(), draw()
        return (R, g), formula(exact(R), exact(g))

    return case


def with_margin(draw):
    R, g, b, eta = draw(), draw(), draw(), draw()
    return (R, g, b, eta), (exact(R) ** 2 + 2 * exact(b) / exact(eta)) / exact(g) ** 2


def with_margin_fraction(draw):
    R, b, eta = draw(), draw(), draw()
    return (R, b, eta), 1 / (2 + exact(eta) * exact(R) ** 2 / exact(b))


def bounded_increments(draw):
    R, g, low, high, b = draw(), draw(), draw(), draw(), draw()
    return (R, g, low, high, b), (exact(high) * exact(R) ** 2 + 2 * exact(b)) / (exact(low) * exact(g) ** 2)


def power_increments(draw):
    R, g = draw(), draw()
    return (R, g, 1.0), Fraction(4, 3) * (exact(R) / exact(g)) ** 2


def greedy(draw):
    R, g, low, high = draw(), draw(), draw(), draw()
    return (R, g, low, high), (exact(high) / exact(low) * exact(R) / exact(g)) ** 2


def greedy_effective_updates(draw):
    etas, counts = [draw() for _ in range(4)], [draw.whole(0, 9) + 1 for _ in range(4)]
    total = sum(exact(e) * k for e, k in zip(etas, counts, strict=True))
    squares = sum(exact(e) ** 2 * k for e, k in zip(etas, counts, strict=True))
    return (etas, counts), total**2 / squares


def fixed_directional_margin(draw):
    R, g, beta, eta = draw(), draw(), draw(high=1.0), draw(high=0.25)
    bracket = exact(g) / exact(R) - (1 + exact(eta)) * (exact(eta) / 2 + exact(beta) / exact(R))
    return (R, g, beta, eta), 1 / (exact(eta) * bracket) if bracket > 0 else math.inf


def margin_perceptron(draw):
    R, g, guess = draw(), draw(), draw()
    return (R, g, guess), 12 * (exact(R) / exact(g)) ** 2 if guess <= g else math.inf


def any_start(draw):
    start, solution = [draw(-4, 4) for _ in range(3)], [draw() for _ in range(3)]
    g, beta = draw(), draw()
    alpha = beta**2 / (2 * g) + draw()
    below = 2 * exact(alpha) * exact(g) - exact(beta) ** 2
    distance = sum((exact(a) - exact(alpha) * exact(s)) ** 2 for a, s in zip(start, solution, strict=True))
    return (start, solution, g, beta, alpha), distance / below if below > 0 else math.inf


def alma(draw):
    R, g, alpha, p = draw(), draw(), draw(high=1.0), 2.0 + draw()
    part = 2 / exact(alpha) - 1
    return (R, g, alpha, p), 2 * (exact(p) - 1) * (exact(R) / exact(g) * part) ** 2 + 8 / exact(alpha) - 4


def relaxation(draw):
    R, g, eta, tol = draw(), draw(), draw(high=1.9), draw(high=1.0)
    return (R, g, eta, tol), (exact(R) / exact(g) / exact(tol)) ** 2 / (exact(eta) * (2 - exact(eta)))


def passive_aggressive_1(draw):
    R, g, C, loss = draw(), draw(), draw(high=1.0), draw(high=1.0)
    gain = min(exact(C) * exact(loss), exact(loss) ** 2 / exact(R) ** 2)
    return (R, g, C, "I", loss), 1 / (exact(g) ** 2 * gain)


def passive_aggressive_2(draw):
    R, g, C, loss = draw(), draw(), draw(), draw()
    return (R, g, C, "II", loss), (exact(R) ** 2 + 1 / (2 * exact(C))) / (exact(g) * exact(loss)) ** 2


def romma(draw):
    R, g, shortfall = draw(), draw(), draw(high=1.0)
    return (R, g, shortfall), (exact(R) / (exact(g) * exact(shortfall))) ** 2


def ballseptron(draw):
    R, ball = draw(), draw()
    g = ball + draw(-1.0, 4.0)
    return (R, g, ball), ((exact(R) ** 2 + exact(ball) ** 2) / (exact(g) - exact(ball)) ** 2 if g > ball else math.inf)


def p_norm(draw):
    R, g, p = draw(), draw(), 2.0 + draw()
    return (R, g, p), (exact(p) - 1) * (exact(R) / exact(g)) ** 2


def arow(draw):
    size, log_det, m, loss = draw.whole(1, 30), draw.whole(0, 30), draw.whole(0, 9), draw()
    return (float(size**2 * (log_det + m)), float(log_det), m, loss), size * (log_det + m) + exact(loss) - m


def forgetron(draw):
    size, budget, loss = draw(), draw.whole(50, 5000), draw()
    allowed = budget >= 83 and 16 * size**2 <= (budget + 1) / math.log(budget + 1)
    return (size, budget, loss), 2 * exact(size) ** 2 + 4 * exact(loss) if allowed else math.inf


def forgetron_run(draw):
    size, shrunk, loss = draw(), draw(), draw()
    return (size, shrunk, loss), Fraction(32, 17) * (exact(size) ** 2 * (1 + exact(shrunk)) + 2 * exact(loss))


def projectron(draw):
    size, error, loss = draw(), draw(high=0.25), draw()
    rest = 1 - 2 * exact(error) * exact(size)
    return (size, error, loss), (exact(size) ** 2 + 2 * exact(loss)) / rest if rest > 0 else math.inf


def freund_schapire(draw):
    R, g, D = draw(), draw(), draw()
    return (R, g, D), ((exact(R) + exact(D)) / exact(g)) ** 2


def geometric_margin(draw):
    R, rho, g = draw(), draw(), draw()
    return (R, rho, g), (exact(g), exact(g) * exact(R) / exact(rho))


def search(draw):
    R, g = draw(), draw()
    return (R, g), 12 * stages(R, g)


def winnow_search(draw):
    peak, g, d = draw(), draw(), draw.whole(2, 300)
    return (peak, g, d), math.ceil(2 * math.log(2 * d)) * stages(peak, g)


def leave_one_out(draw):
    k, n = draw.whole(1, 90), draw.whole(90, 400)
    return (k, n), Fraction(k, n)


CLOSED = {
    "novikoff": of_radius_and_margin(lambda R, g: (R / g) ** 2),
    "fuzzy": of_radius_and_margin(lambda R, g: (R / g) ** 2),
    "incremental_margin_perceptron": search,
    "passive_aggressive I": passive_aggressive_1,
    "passive_aggressive II": passive_aggressive_2,
    **{
        f.__name__: f
        for f in (
            with_margin, with_margin_fraction, bounded_increments, power_increments, greedy, greedy_effective_updates,
            fixed_directional_margin, margin_perceptron, any_start, alma, relaxation, romma, ballseptron, p_norm, arow,
            forgetron, forgetron_run, projectron, freund_schapire, geometric_margin, winnow_search, leave_one_out,
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_form_equals_its_fraction(name):
    bound, draw = getattr(bounds, name.split()[0]), Draw(7)
    finite = 0
    for _ in range(DRAWS):
        arguments, expected = CLOSED[name](draw)
        found = np.ravel(bound(*arguments))
        expected = np.ravel([float(e) for e in expected] if isinstance(expected, tuple) else float(expected))
        np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=f"{name}{arguments}")
        finite += bool(np.isfinite(found).all())
    assert finite >= DRAWS // 4  # a test of inf alone would prove nothing


def logarithmic(R, g, T, d):
    """Formulas with one logarithm, root or angle, beside the bound that states them."""
    eta, epsilon = g / R**2, 0.5 * (g + math.hypot(R, g))
    return {
        "power_increments": ((R, g, -1.0), math.exp(math.pi * R / (math.sqrt(6) * g)) - 1),
        "smooth_perceptron": ((g, T), math.sqrt(8 * math.log(T)) / g),
        "winnow": ((R, g, eta, d), math.log(2 * d) / (eta * g - eta**2 * R**2 / 2)),
        "pegasos": ((R, g / 64, T), 2 * R**2 * (1 + math.log(T)) / (g / 64 * T)),
        "fuzzy_angle": ((R, min(g, R)), 2 * math.asin(min(g, R) / R)),
        "margin_fuzzy_angle": (
            (R, g, epsilon),
            math.pi - 2 * math.acos(R / math.hypot(R, g)) - 2 * math.acos(epsilon / math.hypot(R, g)),
        ),
        "extended_floor": ((-R, T), R / math.sqrt(T)),
        "extended_margin": ((R,), 1 / math.sqrt(R)),
        "deviation": (([g, -g, R], R), math.sqrt(max(0, R - g) ** 2 + (R + g) ** 2)),
        "cramma_converges": ((R, g, 0.1), 2 * 0.1 + 1 < math.sqrt(1 + 8 * g / R)),
    }


def test_formulas_with_a_logarithm():
    draw = Draw(3)
    for _ in range(DRAWS):
        for name, (arguments, expected) in logarithmic(1 + draw(), 0.25 + draw(), draw.whole(2, 999), 7).items():
            assert getattr(bounds, name)(*arguments) == pytest.approx(expected, rel=1e-12), (name, arguments)


def test_the_best_alpha_of_any_start_is_a_minimum():
    draw = Draw(5)
    for _ in range(DRAWS):
        start, solution, g, beta = [draw(-4, 4) for _ in range(3)], [draw() for _ in range(3)], draw(), draw()
        best = bounds.any_start(start, solution, g, beta)
        alphas = beta**2 / (2 * g) * (1 + np.logspace(-6, 6, 4001))
        least = min(bounds.any_start(start, solution, g, beta, alpha) for alpha in alphas)
        assert best <= least * (1 + 1e-12)
        assert least <= best * (1 + 1e-4) + 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5, 0.75, 1.0])
def test_dynamic_margin_solves_its_recursion(epsilon):
    """n_1 = R^2, n_(t+1) = n_t (1 + c/t) + R^2, and t_b is where n_t = (gamma t)^2."""
    R, g, c = 2.0, 1.25, 2 * (1 - epsilon)
    n = [R**2]
    for t in range(1, 20_000):
        n.append(n[-1] * (1 + c / t) + R**2)
    last = max(t for t in range(1, 20_001) if n[t - 1] >= (g * t) ** 2 * (1 - 1e-12))
    assert last <= bounds.dynamic_margin(R, g, epsilon) * (1 + 1e-9) < last + 1


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0, 1.5])
def test_cramma_solves_its_equation(power):
    """CRAMMA eqs. 11 to 16: chi tau - (1 + eta) ((1 + tau)^(1 - eps) - 1)/(1 - eps) = the left side."""
    R, gamma, eta = 2.0, 0.3, 0.02
    for beta in (0.2, 1.0, 3.0):
        updates, fraction = bounds.cramma(R, gamma, beta, power, eta)
        g = gamma / R
        tau = updates / (beta / g) ** (1 / power) - 1
        chi, omega = 1 - eta * (1 + eta) / (2 * g), eta * (1 + eta) * g
        grown = math.log1p(tau) if power == 1 else ((1 + tau) ** (1 - power) - 1) / (1 - power)
        left = (1 + omega) * g ** (1 / power - 1) / (eta * beta ** (1 / power))
        assert chi * tau - (1 + eta) * grown == pytest.approx(left, rel=1e-9)
        assert fraction == pytest.approx((1 + tau) ** -power, rel=1e-9)


def test_micra_solves_its_equation():
    """The sum of the steps, by integrals of falling powers, equals 1 - g at t_b, and f_b = beta (t_b + 1)^-eps / g."""
    R, gamma, beta, power, eta, decay = 2.0, 0.3, 0.7, 0.5, 0.15, 0.2
    updates, fraction = bounds.micra(R, gamma, beta, power, eta, decay)
    g = gamma / R

    def integral(p):
        return (updates ** (1 - p) - 1) / (1 - p)

    lost = [
        (eta * beta, decay + power),
        (eta**2 / 2, 2 * decay),
        (eta**2 * beta, 2 * decay + power),
        (eta**3 / 2, 3 * decay),
    ]
    total = eta * g * integral(decay) - sum(factor * (1 + integral(p)) for factor, p in lost)
    assert total == pytest.approx(1 - g, rel=1e-9)
    assert fraction == pytest.approx(beta * (updates + 1) ** -power / g, rel=1e-12)


def test_second_order_perceptron_solves_its_inequality():
    R, g, a, d = 2.0, 0.75, 1.5, 6
    k = bounds.second_order_perceptron(R, g, a, d)
    assert (k * g) ** 2 == pytest.approx((a + k * R**2) * d * math.log(1 + k * R**2 / (a * d)), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0])
def test_margitron_solves_its_inequality(epsilon):
    R, g, b = 2.0, 0.75, 3.0
    t = bounds.margitron(R, g, b, epsilon)
    shrinking = R**2 * g ** (epsilon - 1) * t**epsilon / (2 * epsilon)
    assert (g * t) ** (1 + epsilon) == pytest.approx(R ** (1 + epsilon) + (1 + epsilon) * (b * t + shrinking), rel=1e-9)
    assert bounds.margitron_fraction(R, g, b, epsilon) == pytest.approx(b * (g * t) ** -epsilon / g, rel=1e-12)


@pytest.mark.parametrize("shrinking", [0.001, 0.01, 0.02])
def test_weight_shrinking_is_the_growth_of_two_recursions(shrinking):
    """a.u grows to gamma (1 - q^t)/l, |a|^2 to B (1 - q^(2t))/(1 - q^2): the first meets the root of the second."""
    R, g, b = 2.0, 0.5, 4.0
    q, B = 1 - shrinking, R**2 + 2 * (1 - shrinking) * b
    t, along, size2 = 0, 0.0, 0.0
    while True:
        along, size2 = q * along + g, q**2 * size2 + B
        if along**2 > size2:
            break
        t += 1
    assert t <= bounds.weight_shrinking(R, g, b, shrinking) < t + 1
    h = shrinking * B / ((2 - shrinking) * g**2)
    fraction = b * (2 - shrinking) * (1 + h) / (2 * B)
    assert bounds.weight_shrinking_fraction(R, g, b, shrinking) == pytest.approx(fraction, rel=1e-12)


def test_fixed_margin_search_sums_its_stages():
    R, g, factor, eta = 2.0, 0.3, 0.7, 0.05
    total, guess = 0, 1.0
    while True:
        rate = min(eta, guess * (1 - factor) / 3)
        total += math.ceil(1 / (rate * (guess - (1 + rate) * (rate / 2 + factor * guess)))) + 1
        if guess <= g / R:
            break
        guess *= factor
    assert bounds.fixed_margin_search(R, g, factor, eta) == total


def test_every_bound_is_here():
    """A new bound needs its formula in this file."""
    text = inspect.getsource(inspect.getmodule(Draw))
    left_out = {"CrammaBound", "LeastBound", "cramma_half", "best_freund_schapire", "least_freund_schapire"}
    for name in set(bounds.__all__) - left_out:  # these are compared with others in `test_bounds` and in doctests
        assert f"bounds.{name}(" in text or f'"{name}' in text or f"def {name}(" in text, name
