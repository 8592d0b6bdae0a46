"""Certificates of real fits with a field replaced: the checker accepts none that is false, refutes none that is true.

The truth of every claim is reported by `oracle_exact`, which says in fractions what the claims mean.
"""

import math
import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_exact import meaning

from separatrix import CRAMMA, DynamicMargin, KernelMaxMargin, MaxMargin, NotSeparableError, Perceptron, separability
from separatrix.certificates.checker import CLAIMS, check
from separatrix.certificates.verification import exact_weights

INF, NAN = math.inf, math.nan
NUMBERS = ["lower", "upper", "radius", "rho", "delta", "hinge"]
VECTORS = ["direction", "alpha", "sample_weight", "slack_vector", "weak"]


def data(rng):
    """Small data of 2 to 4 classes, integers with ties or floats of many sizes, separable or not."""
    n, d, c = int(rng.integers(4, 10)), int(rng.integers(1, 4)), int(rng.choice([2, 2, 2, 3, 4]))
    X = rng.integers(-3, 4, (n, d)).astype(float)
    kind = rng.integers(5)
    if kind == 1:
        X = rng.normal(size=(n, d))
    elif kind == 2:
        X = rng.normal(size=(n, d)).astype(np.float32)
    elif kind == 3:
        X = X * 10.0 ** rng.integers(-8, 9, d)
    elif kind == 4:
        X = X * 10.0 ** rng.integers(-120, 121)
    if rng.random() < 0.5:
        w = rng.normal(size=(c, d + 1))
        y = (X @ w[:, :-1].T + w[:, -1]).argmax(axis=1)
    else:
        y = rng.integers(0, c, n)
    return X, np.unique(y, return_inverse=True)[1]


def fits(rng):
    """Certificates of one data set, each with the labels that it is about."""
    X, y = data(rng)
    c = y.max() + 1
    if c < 2:
        return
    weight = rng.choice([0.0, 0.5, 1.0, 2.0, 1e6], len(y)) if rng.random() < 0.5 else None
    intercept = rng.choice([True, False])
    models = [
        Perceptron(max_iter=20, fit_intercept=intercept, intercept_scaling=float(rng.choice([1.0, 0.3, 40.0]))),
        CRAMMA(delta=0.7, max_iter=20) if rng.random() < 0.5 else DynamicMargin(max_iter=20, delta=0.5),
        MaxMargin(float(rng.choice([1.0, 0.01, 100.0])), fit_intercept=rng.choice(["unpenalized", True, False])),
        MaxMargin(math.inf, fit_intercept=rng.choice(["unpenalized", True])),
        MaxMargin(
            float(rng.choice([1.0, 0.01, 1e5])), loss="hinge", fit_intercept=rng.choice(["unpenalized", True, False])
        ),
    ]
    signs = rng.choice([-1, 0, 1, 1], X.shape[1])
    loss = str(rng.choice(["hinge", "squared_hinge"]))
    for C in (math.inf, float(rng.choice([1.0, 0.01, 100.0]))):
        models.append(MaxMargin(C, loss=loss, positive=signs, fit_intercept=rng.choice(["unpenalized", True, False])))
    intercept = rng.choice(["unpenalized", True, False])
    models.append(MaxMargin(float(rng.choice([1.0, 0.01, 100.0])), penalty="l1", loss=loss, fit_intercept=intercept))
    if c > 2:
        models += [Perceptron(max_iter=10, multi_class="joint"), Perceptron(max_iter=10, multi_class="ovo")]
        models += [MaxMargin(1.0, multi_class="joint"), MaxMargin(0.1, loss="hinge", multi_class="joint")]
    for model in models:
        if model.get_params().get("fit_intercept") == "True":
            model.set_params(fit_intercept=True)
        if model.get_params().get("fit_intercept") == "False":
            model.set_params(fit_intercept=False)
        try:
            model.fit(X, y, sample_weight=weight)
            certificates = model.certificates_
        except NotSeparableError as error:
            certificates = [error.certificate]
        except ValueError:  # zero rows without a bias, one class left
            continue
        for k, certificate in enumerate(certificates):
            rest = c > 2 and certificate.n_classes == 2 and certificate.class_pair is None
            if rest and len(certificates) != c:
                continue
            yield X, (y == k).astype(int) if rest else y, certificate
    answer = separability(X, y)
    if answer.certificate is not None:
        yield X, y, answer.certificate


def plain(X, y, certificate):
    """With exact weights where there are some, and now and then with a vector in the place of the multipliers."""
    claim = {**certificate.as_plain(), **exact_weights(certificate, X, y)}
    if "direction" in claim and "upper" in claim and len(y) % 2 and not claim["free"] and not claim["hinge"]:
        # 0.37: of margins that are whole numbers no slack is 0 up to rounding, which would make it noise
        claim["slack_vector"] = [0.37 * v for v in claim["direction"]]
        claim["upper"] = 1.0
        while not meaning(X.tolist(), y.tolist(), claim, "upper"):
            claim["upper"] *= 1.1
            if claim["upper"] > 1e30:  # all slacks are 0
                del claim["slack_vector"]
                claim["upper"] = certificate.upper
                break
    if "direction" in claim and claim.get("separable"):
        claim["weak"] = claim["direction"]
    return claim


def wrong_number(rng, value, other):
    near = [value * (1 + s * e) for s in (-1, 1) for e in (2.0**-52, 1e-15, 1e-13, 1e-12, 1e-9, 0.1)] if value else []
    far = [
        NAN,
        INF,
        -INF,
        0,
        0.0,
        -0.0,
        1e308,
        1e300,
        1e-300,
        5e-324,
        -1e-320,
        2**53 + 1,
        10**400,
        -(10**400),
        1.0,
        2.0,
    ]
    odd = [None, True, False, "1", "nan", [1.0], {}, -value if value else 1.0, other]
    choices = [near, far, odd] if value else [far, odd]
    return pick(rng, choices[rng.integers(len(choices))])


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def wrong_vector(rng, values, other):
    values, kind = list(values), rng.integers(14)
    i = int(rng.integers(len(values))) if values else 0
    if kind <= 3 and values:
        values[i] = wrong_number(rng, values[i], pick(rng, values))
    elif kind == 4:
        values = [values[k] for k in rng.permutation(len(values))]
    elif kind == 5:
        values = pick(rng, [values[1:], [*values, 0.0], [], values[::-1], None, "abc", 3.0, [values]])
    elif kind == 6:
        values = np.asarray(values).astype(pick(rng, [np.float16, np.float32])).tolist()
    elif kind == 7:
        values = [math.ldexp(v, int(pick(rng, [-1074, -1060, -1000, -560, 500, 1000]))) for v in values if abs(v) < 1e6]
    elif kind == 8:
        values = [pick(rng, [0.0, NAN, INF, 1.0, -1.0, 1e-310])] * len(values)
    elif kind == 9:
        values = [-v for v in values]
    elif kind == 10:
        values = list(other)
    elif kind == 11:
        values = np.asarray(values, dtype=np.float16)
    elif kind == 12:
        values = np.asarray(values, dtype=np.longdouble) / 3
    else:
        values[i] = math.nextafter(values[i], pick(rng, [INF, -INF, 0.0])) if values else 1.0
    return values


def wrong_index(rng, values, n):
    values = list(values)
    i = int(rng.integers(len(values))) if values else 0
    wrong = pick(rng, [-1, n, n - 1, 10 * n, 2**63, 2**64 + 1, 0, 1, 2, 1.0, "0", None, True, values[0], -len(values)])
    kind = rng.integers(5)
    if kind <= 2 and values:
        values[i] = wrong
    elif kind == 3:
        values = [values[k] for k in rng.permutation(len(values))]
    else:
        values = pick(rng, [values[1:], [*values, 0], [], values[::-1], None, 0, [*map(float, values)]])
    return values


def mutation(rng, claim, other, n):
    """A field and what to put there."""
    more = [
        "rho",
        "delta",
        "hinge",
        "free",
        "weighted",
        "fixed_length",
        "sample_weight",
        "n_classes",
        "signs",
        "l1",
        "unknown",
    ]
    field = pick(rng, [*sorted(claim), *more])
    value, stranger = claim.get(field), other.get(field)
    if field in NUMBERS:
        return field, wrong_number(rng, value if isinstance(value, float) else 1.0, stranger)
    if field == "sample_weight" and value is None:
        value = [pick(rng, [0.0, 1.0, 1.0, 3.0]) for _ in range(n)]
    if field in VECTORS:
        return field, wrong_vector(rng, value, stranger or [])
    if field == "alpha_index":
        return field, wrong_index(rng, value, n)
    if field == "alpha_exact":
        wrong = [value[::-1], value[1:], [*value, "0x1"], ["0x0"] * len(value), ["0x1"] * len(value), None, [], "0x1"]
        wrong += [["-0x1", *value[1:]], ["nan", *value[1:]], [hex(int(value[0], 16) + 1), *value[1:]], [1] * len(value)]
    elif field == "separable":
        wrong = [not value, 1, 0, "true", None, NAN, []]
    elif field == "n_classes":
        wrong = [1, 2, 3, 4, 0, -1, 2.0, "2", True, None, NAN, 10**30]
    elif field == "class_pair":
        wrong = [value[::-1], [value[0]], [value[0]] * 2, [7, 8], "01", None, [0, 1], [1, 2], [0, 1, 2]]
    elif field == "signs":
        text = value or "0" * n
        wrong = ["", text[::-1], text + "+", text[1:], text.replace("0", "+"), text.replace("+", "-"), "x", None, 1, []]
        wrong += [text[:i] + s + text[i + 1 :] for i in range(min(len(text), 4)) for s in "+-0"]
    elif field in ("free", "weighted", "fixed_length", "l1"):
        wrong = [not value, 1, 0, "no", None, NAN]
    else:
        wrong = [1.0, None]
    return field, pick(rng, wrong)


def attack(seed, count):
    """So many mutations; what became of them, and the first few that were judged wrongly."""
    rng, seen, wrong = np.random.default_rng(seed), Counter(), []
    previous: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while seen["mutations"] < count:
            for X, y, certificate in fits(rng):
                claim, rows, labels = plain(X, y, certificate), X.tolist(), y.tolist()
                matrix = sp.csr_array(X)
                forms = [X, (matrix.data, matrix.indices, matrix.indptr, X.shape[1])]
                wrong += judged(forms[0], y, rows, labels, claim, seen, own=True)
                for _ in range(25):
                    changed = {
                        **claim,
                        **dict(mutation(rng, claim, previous, len(y)) for _ in range(pick(rng, [1, 1, 2]))),
                    }
                    seen["mutations"] += 1
                    wrong += judged(pick(rng, forms), y, rows, labels, changed, seen)
                previous = claim
    return seen, wrong


def judged(X, y, rows, labels, claim, seen, own=False):
    """Claims that the checker and the meaning of the words judge differently."""
    found = check(X, y, claim)
    wrong = []
    for place in ("checked", "failed", "unchecked"):
        for said in found[place]:
            name = said.split()[0].rstrip(":")
            if name not in CLAIMS:
                seen["refused"] += 1
                truths = [meaning(rows, labels, claim, c) for c in CLAIMS if claim.get(c) is not None]
                if any(truths) and "unknown" not in said:
                    wrong.append((said, claim))
                continue
            seen[place] += 1
            true = meaning(rows, labels, claim, name)
            if name == "upper" and claim.get("slack_vector") is not None and isinstance(claim["upper"], float):
                # The slacks are multipliers as floats round them: they prove a little more or less.
                true = place == "checked" and meaning(
                    rows, labels, {**claim, "upper": claim["upper"] * (1 + 1e-12)}, name
                )
            if (place == "checked" and true is False) or (place == "failed" and true):
                wrong.append((said, true, claim, rows, labels))
            if own and (place == "failed" or (place == "unchecked" and "direction" in claim and "alpha" in claim)):
                wrong.append(("own", said, true, claim, rows, labels))
    return wrong


def in_features(X, certificate):
    """The plain form of a linear kernel's certificate: its vector is a combination of the rows."""
    alpha = None if certificate.alpha is None else np.asarray(certificate.alpha, dtype=np.float64)  # as `verify` does
    claim = replace(certificate, kernel=None, direction=None, alpha=alpha).as_plain()
    *beta, bias = map(Fraction, np.asarray(certificate.direction, dtype=np.float64).tolist())
    weight = certificate.sample_weight
    rows = [
        [*map(Fraction, x), Fraction(claim["rho"])] for k, x in enumerate(X.tolist()) if weight is None or weight[k] > 0
    ]
    a = [sum(b * row[i] for b, row in zip(beta, rows, strict=True)) for i in range(X.shape[1] + 1)]
    if claim["free"]:
        claim["rho"], a[-1] = 1.0, bias
    else:
        assert bias == 0
    return {**claim, "direction": a}


def as_float(value):
    """A number that is one in another type."""
    return float(value) if isinstance(value, int) and abs(value) < 2**60 else value


def array_of(values):
    """Numbers as numpy holds them, anything else as it is."""
    plain = isinstance(values, list) and all(isinstance(v, (int, float)) for v in values)
    return np.array(values, dtype=None if plain else object)


def attack_kernels(seed, count):
    """One-sided: these claims are checked in floats, with bounds on rounding errors."""
    rng, seen = np.random.default_rng(seed), Counter()
    while seen["mutations"] < count:
        X, y = data(rng)
        if y.max() != 1 or np.abs(X).max() > 1e6:
            continue
        C, free = pick(rng, [0.1, 1.0, 100.0]), pick(rng, [True, False, "unpenalized"])
        try:
            certificate = KernelMaxMargin(C, kernel="linear", fit_intercept=free).fit(X, y).certificate_
        except ValueError:
            continue
        assert not certificate.verify(X, y).failed
        for _ in range(20):
            field = pick(rng, ["lower", "upper", "radius", "direction", "alpha", "alpha_index", "separable", "space"])
            value = getattr(certificate, field)
            if field == "space":
                value = value._replace(**{pick(rng, ["rho", "delta"]): as_float(wrong_number(rng, 1.0, 2.0))})
            elif field == "separable":
                value = not value
            elif field == "alpha_index":
                value = array_of(wrong_index(rng, value.tolist(), len(y)))
            elif field in VECTORS:
                value = array_of(wrong_vector(rng, value.tolist(), [1.0] * len(value)))
            else:
                value = as_float(wrong_number(rng, value, 1.0))
            changed = replace(certificate, **{field: value})
            seen["mutations"] += 1
            try:
                said = changed.verify(X, y)
            except (ValueError, TypeError, OverflowError):
                seen["errors"] += 1
                continue
            for text in said.checked:
                name = text.split()[0]
                claim = in_features(X, changed)
                seen["checked"] += 1
                if name != "radius":  # by the rounded values of the kernel
                    assert meaning(X.tolist(), y.tolist(), claim, name) is not False, (text, field, value, X, y)
            seen["failed"] += len(said.failed)
    return seen


@pytest.mark.filterwarnings("ignore")
def test_no_mutation_in_a_linear_kernel_is_accepted_that_is_false():
    seen = attack_kernels(0, 300)
    assert min(seen["checked"], seen["failed"]) > 50, seen


@pytest.mark.parametrize("seed", range(4))
def test_no_mutation_is_accepted_that_is_false(seed):
    seen, wrong = attack(seed, 750)
    assert not wrong, wrong[0]
    assert min(seen[place] for place in ("checked", "failed", "refused")) > 50, seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_a_hundred_thousand_mutations(seed):
    seen, wrong = attack(seed, 10_000)
    print(seen)
    assert not wrong, wrong[0]
