"""Strategies of hypothesis: small data of two classes, the settings of a fit, and fits that may be refused."""

import re

import numpy as np
from hypothesis import HealthCheck, assume, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from separatrix import DataError
from separatrix.fit.online import OnlineClassifier

EPOCHS = 30
many = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])

integers = st.integers(-4, 4).map(float)
floats = st.floats(-10, 10, allow_subnormal=False)


@st.composite
def data(draw, separable=None):
    """(X, y) with 2 to 10 rows of both classes; ``separable``: by a hyperplane of ours, by chance, or either (None)."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 4))
    elements = draw(st.sampled_from([integers, floats]))
    X = draw(hnp.arrays(np.float64, (n, d), elements=elements))
    if separable or (separable is None and draw(st.booleans())):
        w = draw(hnp.arrays(np.float64, d + 1, elements=integers))
        y = (X @ w[:-1] + w[-1] > 0).astype(int)
    else:
        y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
    assume(0 < y.sum() < n)
    return X, y


@st.composite
def settings_of_a_fit(draw):
    return {
        "max_iter": EPOCHS,
        "shuffle": draw(st.booleans()),
        "random_state": draw(st.integers(0, 1000)),
        "fit_intercept": draw(st.booleans()),
        "intercept_scaling": draw(st.sampled_from([0.5, 1.0, 3.0])),
    }


def fitted(cls, X, y, parameters):
    """A fit by the algorithm of the theorem. Zero rows without a bias, equal class means and squares beyond float64 are
    errors, and no concern of ours."""
    theorem = {"until": "separated"} if issubclass(cls, OnlineClassifier) else {}
    try:
        return cls(**theorem | parameters).fit(X, y)
    except DataError as error:
        if not re.search("zero|same mean|underflows|overflows float64", str(error)):
            raise
        reject()


def rho_of(parameters):
    return parameters["intercept_scaling"] if parameters["fit_intercept"] else 0.0
