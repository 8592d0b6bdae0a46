"""A fit can be stopped anywhere and go on: warm starts, pieces, given starts, threads, copies, interruptions."""

import copy
import json
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from cases import LAYOUTS, ONLINE_VARIANTS, each_layout, online
from sklearn.base import clone

from separatrix import (
    ALMA,
    LMS,
    ROMMA,
    BalancedWinnow,
    DynamicMargin,
    FixedMargin,
    GreedyPerceptron,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    Pocket,
    RecursiveLeastSquares,
    VotedPerceptron,
)
from separatrix.online import training as training

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(5)
X = rng.normal(size=(45, 4))
MIXED = {2: (rng.random(45) < 0.5).astype(int), 3: np.arange(45) % 3}  # nothing separates these
SIDE = np.array([1.0, -2.0, 0.5, 1.0])
APART = (X @ SIDE + 0.3 > 0).astype(int)
FAR = X + 0.3 * np.outer(2 * APART - 1, SIDE)  # separable by SIDE, with 0.3 to spare
VARIANTS = [
    *ONLINE_VARIANTS,
    Perceptron(eta=lambda k: 1.0 / (k + 3), until="separated"),
    Perceptron(eta="1/k", margin=0.5, until="separated"),
    GreedyPerceptron(delta=1.0, until="separated"),
    Pocket(variant="run", until="separated"),
    VotedPerceptron(max_voters=3, until="separated"),
    LMS(eta=lambda k: 0.1 / k, until="separated"),
    BalancedWinnow(alpha=1.1, until="separated"),
    FixedMargin(n_iter_no_change=100, until="separated"),
]


def facts(model):
    """Everything that two equal fits share, as a list of arrays."""
    found = [model.n_updates_, model.n_visits_, model.n_epochs_, model.converged_, model.stop_reason_ == "interrupted"]
    for name in ("coef_", "intercept_", "directional_margin_", "geometric_margin_", "t_"):
        found.append(getattr(model, name, 0))
    for name in ("voters_", "voter_intercepts_", "votes_"):
        found.extend(getattr(model, name, []))
    for c in (model.certificate_, *model.certificates_):
        found += [np.nan if c.lower is None else c.lower, c.upper, c.radius, c.separable is True, *c.space]
        found += [np.zeros(0) if part is None else part for part in (c.direction, c.alpha, c.alpha_index)]
    return found


def assert_equal(one, other):
    for a, b in zip(facts(one), facts(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("classes", [2, 3])
@each_layout
@pytest.mark.parametrize("shuffle", [True, False])
def test_two_fits_of_five_epochs_are_one_of_ten(shuffle, layout, classes):
    data, y, compared = LAYOUTS[layout](X), MIXED[classes], 0
    for model in VARIANTS:
        whole = clone(model).set_params(shuffle=shuffle, max_iter=10).fit(data, y)
        halves = clone(model).set_params(shuffle=shuffle, max_iter=5, warm_start=True).fit(data, y)
        if not whole.converged_ or isinstance(model, RecursiveLeastSquares):
            assert halves.n_epochs_ == 5
        halves.fit(data, y)
        if all(r.reason != "converged" for r in whole._records_):  # else the second fit looks once more, see below
            assert_equal(whole, halves)
            compared += 1
    assert compared >= len(VARIANTS) - 3


@online
def test_what_has_converged_stays(cls):
    """A second fit looks at every row once more and finds nothing to correct."""
    model = cls(warm_start=True, until="separated").fit(FAR, APART)
    if not model.converged_ or cls in (LMS, Pegasos, RecursiveLeastSquares):
        return
    before = copy.deepcopy(model)
    model.fit(FAR, APART)
    assert model.converged_
    assert model.n_updates_ == before.n_updates_
    assert model.n_visits_ == before.n_visits_ + len(FAR)
    np.testing.assert_array_equal(model.predict(X), before.predict(X))
    if hasattr(model, "coef_"):
        np.testing.assert_array_equal(model.coef_, before.coef_)
    assert model.certificate_.upper == before.certificate_.upper


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_stopped_in_mid_epoch_by_the_number_of_updates(shuffle, classes):
    y, compared = MIXED[classes], 0
    for model in VARIANTS:
        stops = [50, 70, 143] if isinstance(model, RecursiveLeastSquares | LMS | Pegasos) else [5, 6, 23]
        whole = clone(model).set_params(shuffle=shuffle, max_updates=stops[-1], max_iter=5000).fit(X, y)
        parts = clone(model).set_params(shuffle=shuffle, max_iter=5000, warm_start=True)
        for stop in stops:
            parts.set_params(max_updates=stop).fit(X, y)
            assert all(r.state.counts[2] <= stop for r in parts._records_)
        if all(r.reason == "max_updates" for r in whole._records_):
            assert whole.n_updates_ == stops[-1] * len(whole._records_)
            assert_equal(whole, parts)
            compared += 1
    assert compared >= len(VARIANTS) - 3


@online
def test_other_data_drop_the_old_upper_bound(cls):
    model = cls(warm_start=True, max_iter=300, until="separated").fit(X, MIXED[2])
    assert model.certificate_.upper < 0.2 or np.isinf(model.certificate_.upper)
    model.fit(FAR[:30], APART[:30])
    best = DynamicMargin(epsilon=0.01, max_iter=100_000, until="separated").fit(FAR[:30], APART[:30]).certificate_.lower
    assert model.certificate_.verify(FAR[:30], APART[:30])
    assert model.certificate_.upper >= best > 0.2
    assert model.n_epochs_ <= 300


def test_other_data_start_from_the_last_vector():
    for cls in (Perceptron, ROMMA, Pocket, VotedPerceptron, GreedyPerceptron, BalancedWinnow):
        model = cls(warm_start=True, until="separated").fit(FAR, APART)
        predicted = model.predict(X)
        model.fit(FAR[:-1], APART[:-1])
        assert model.n_updates_ == 0
        assert model.certificate_.separable
        np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.parametrize(
    "change", [{"early_stopping": True, "validation_fraction": 0.8}, {"delta": 2.0}, {"intercept_scaling": 3.0}]
)
def test_a_changed_problem_is_not_resumed_as_the_same(change):
    """With rows held out, or in another space, the old multipliers and counters mean nothing."""
    model = DynamicMargin(epsilon=0.3, warm_start=True, max_updates=200, max_iter=2000, until="separated").fit(
        FAR, APART
    )
    model.set_params(**change, max_updates=None).fit(FAR, APART)
    assert model.certificate_.verify(FAR, APART)
    assert model.certificate_.space.rho == model.intercept_scaling
    assert model.certificate_.space.delta == model.delta
    if model.converged_:
        assert model.certificate_.ratio >= 0.5


@online
def test_other_classes_or_widths_are_refused(cls):
    model = cls(warm_start=True, until="separated").fit(X, MIXED[2])
    with pytest.raises(ValueError, match="classes"):
        model.fit(X, MIXED[3])
    with pytest.raises(ValueError, match="classes"):
        model.fit(X, MIXED[2] + 1)
    for wider in (np.hstack([X, X]), sp.csr_matrix((45, 9))):
        with pytest.raises(ValueError, match="4 features"):
            model.fit(wider, MIXED[2])
    cls(warm_start=False, until="separated").fit(X, MIXED[2]).fit(X, MIXED[3])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"n_iter_no_change": 3}, {"early_stopping": True}, {"max_updates": 31}])
def test_pieces_never_change_a_result(monkeypatch, classes, options):
    y = MIXED[classes]
    wholes = [clone(model).set_params(max_iter=4, **options).fit(X, y) for model in VARIANTS]
    monkeypatch.setattr(training, "FIRST_PIECE", 1)
    monkeypatch.setattr(training, "SECONDS_OF_A_PIECE", 1e-12)
    for model, whole in zip(VARIANTS, wholes, strict=True):
        assert_equal(whole, clone(model).set_params(max_iter=4, **options).fit(X, y))


def test_a_start_that_separates_is_kept():
    for cls in (Perceptron, ALMA, FixedMargin, GreedyPerceptron, BalancedWinnow, Pocket, ROMMA, PassiveAggressive):
        model = cls(until="separated").fit(FAR, APART, coef_init=10 * SIDE, intercept_init=3.0)
        assert model.n_updates_ == 0
        np.testing.assert_allclose(model.coef_, [10 * SIDE], rtol=1e-12)
        assert model.intercept_ == pytest.approx([3.0])


@online
def test_a_start_that_is_wrong_is_left_behind(cls):
    model = cls(max_iter=20_000, until="separated").fit(FAR, APART, coef_init=-SIDE[None], intercept_init=[1.0])
    assert model.score(FAR, APART) > 0.95
    if model.converged_ and cls not in (LMS, RecursiveLeastSquares):
        assert model.certificate_.separable or cls is VotedPerceptron or cls.__name__.find("Fuzzy") >= 0
    best = DynamicMargin(epsilon=0.01, max_iter=100_000, until="separated").fit(FAR, APART).certificate_.lower
    assert model.certificate_.verify(FAR, APART)
    assert model.certificate_.upper >= best


def test_starts_for_three_classes_and_half_a_start():
    start = np.arange(12.0).reshape(3, 4)
    model = Perceptron(max_updates=1, max_iter=1, until="separated").fit(X, MIXED[3], coef_init=start)
    step = model.coef_ - start
    assert np.count_nonzero(np.any(step != 0, axis=1)) == 3
    for s, (w, b) in zip(step, zip(model.coef_, model.intercept_, strict=True), strict=True):
        assert np.isclose(np.abs(X - s * np.sign(b)).sum(axis=1).min(), 0.0), (w, b)  # one row was added
    with pytest.raises(ValueError, match="coef_init"):
        Perceptron(until="separated").fit(X, MIXED[3], coef_init=start.T)
    flat = Perceptron(max_iter=3, until="separated").fit(X, MIXED[2], intercept_init=-2.0)
    same = Perceptron(max_iter=3, until="separated").fit(X, MIXED[2], coef_init=np.zeros((1, 4)), intercept_init=[-2.0])
    assert_equal(flat, same)


@online
def test_seeds(cls):
    fits = [
        cls(random_state=s, max_iter=3, until="separated").fit(X, MIXED[2]) for s in (1, 1, 2, np.random.RandomState(1))
    ]
    assert_equal(fits[0], fits[1])
    assert_equal(fits[0], fits[3])
    if cls is not RecursiveLeastSquares:  # whose result does not depend on the order
        assert not np.array_equal(fits[0].decision_function(X), fits[2].decision_function(X))
    still = [cls(random_state=s, max_iter=3, shuffle=False, until="separated").fit(X, MIXED[2]) for s in (1, 2)]
    assert_equal(*still)


def test_threads_do_not_disturb_each_other():
    models = [clone(model).set_params(max_iter=30) for model in VARIANTS for _ in range(2)]
    serial = [clone(model).fit(X, MIXED[3]) for model in models]
    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(lambda model: model.fit(X, MIXED[3]), models))
    for one, other in zip(serial, threaded, strict=True):
        assert_equal(one, other)


@online
def test_copies(cls):
    model = cls(max_iter=5, warm_start=True, until="separated").fit(X, MIXED[3])
    again = pickle.loads(pickle.dumps(model))
    assert_equal(model, again)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert_equal(again.fit(X, MIXED[3]), model.fit(X, MIXED[3]))  # a copy goes on like the original
    fresh = clone(model)
    assert not any(name.endswith("_") for name in vars(fresh))
    assert fresh.get_params() == model.get_params()
    assert_equal(fresh.fit(X, MIXED[3]), cls(max_iter=5, until="separated").fit(X, MIXED[3]))


class Interrupt:
    """Presses Ctrl-C at the n-th piece."""

    def __init__(self, at):
        self.left = at

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context):
        if hasattr(context, "measures"):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("at", [1, 3, 9])
def test_interrupted_in_mid_fit(classes, at):
    y, compared = MIXED[classes], 0
    for variant in VARIANTS:
        model = clone(variant).set_params(max_iter=2000, max_updates=300, warm_start=True)
        whole = clone(model).fit(X, y)
        with pytest.raises(KeyboardInterrupt):
            model.set_callbacks(Interrupt(at)).fit(X, y)
        assert model.converged_ is False
        assert model.stop_reason_ == "interrupted"
        assert model.predict(X).shape == (45,)
        assert model.n_updates_ < whole.n_updates_ or whole.converged_
        for k, certificate in enumerate(model.certificates_):
            assert certificate.verify(X, y if classes == 2 else y == k)
        model.set_callbacks().fit(X, y)
        if all(r.reason == "max_updates" for r in whole._records_):
            assert_equal(model, whole)
            compared += 1
    assert compared >= len(VARIANTS) - 3


CTRL_C = """
    import json, time
    import numpy as np
    import separatrix

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 100)), rng.integers(0, 3, 100_000)
    models = [
        (separatrix.Perceptron(max_iter=10**9, until="separated"), 100_000),
        (separatrix.GreedyPerceptron(max_iter=10**9, until="separated"), 50_000),
        (separatrix.RecursiveLeastSquares(max_iter=10**9), 100_000),
    ]
    for model, n in models:
        model.fit(X[:40], y[:40]) if model.max_iter < 10 else type(model)(max_iter=1).fit(X[:40], y[:40])
        print("ready", flush=True)
        try:
            model.fit(X[:n], y[:n])
        except KeyboardInterrupt:
            print(json.dumps([model.converged_, model.stop_reason_, model.coef_.shape, model.n_visits_]), flush=True)
"""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_ctrl_c_answers_at_once():
    script = "import warnings; warnings.simplefilter('ignore')\n" + textwrap.dedent(CTRL_C)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(3):
            assert process.stdout.readline() == "ready\n"
            time.sleep(1.0)
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            converged, reason, shape, visits = json.loads(process.stdout.readline())
            assert time.perf_counter() - start < 1.5
            assert (converged, reason, shape) == (False, "interrupted", [3, 100])
            assert visits > 0
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_mean_that_is_asked_for_between_calls_begins_there(rng):
    X, y = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    model = Perceptron(shuffle=False).partial_fit(X, y, classes=[0, 1])
    start = {"coef_init": model.coef_.copy(), "intercept_init": model.intercept_.copy()}
    expected = Perceptron(shuffle=False, average=True, until="separated", max_iter=1).fit(X, y, **start)
    model.set_params(average=True).partial_fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert not np.allclose(model.coef_, start["coef_init"])
