"""What the tests read from a fit, and what a theorem says of one."""

import numpy as np

ROUNDING = 1 + 1e-9


def vector(model):
    """(w, bias/rho) of a model for two classes."""
    return np.append(model.coef_[0], model.intercept_[0] / model.intercept_scaling if model.fit_intercept else 0.0)


def vectors(model):
    """All that predicts, in one array."""
    if hasattr(model, "coef_"):
        return np.column_stack([model.coef_, model.intercept_])
    return np.vstack([np.column_stack(parts) for parts in zip(model.voters_, model.voter_intercepts_, strict=True)])


def assert_theorem(theorem, updates, converged, margin, gamma):
    """What a theorem says of a run on patterns whose maximum margin is gamma; ``margin``: what it reached."""
    assert updates <= theorem.updates(gamma) * ROUNDING
    if converged and theorem.fraction is not None:
        assert margin >= theorem.fraction(gamma) * gamma / ROUNDING
