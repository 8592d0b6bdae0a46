"""A rule of one's own."""

from dataclasses import KW_ONLY
from difflib import get_close_matches
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np

from separatrix.fit.declare import estimator
from separatrix.fit.online import AdditiveClassifier
from separatrix.fit.recipe import Average, Recipe, Record
from separatrix.fit.training_data import ClassWeightMixin
from separatrix.rules.base import Scalars, attribute
from separatrix.rules.perceptrons import PerceptronRule

FORMULAS = ("violates", "gain", "weighted_gain", "negligible", "keep")  # of a margin m and the scalars s


@estimator
class PerceptronLike(ClassWeightMixin, AdditiveClassifier):
    """Fits with a rule of your own at compiled speed.

    A rule is a ``NamedTuple`` of numbers with the formulas ``violates(self, m, s)`` and ``gain(self, m, s)``, and,
    where needed, ``keep``, ``shrink``, ``weighted_gain`` and ``negligible``; `separatrix.rules` explains them.

    Parameters
    ----------
    rule : NamedTuple or None, default=None
        The rule; None is the plain Perceptron.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Perceptron : The rule that is taken by default.
    KernelPerceptron : Takes rules of your own too.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from separatrix import PerceptronLike
    >>> class Impatient(NamedTuple):
    ...     margin: float
    ...     def violates(self, m, s):
    ...         return m <= self.margin
    ...     def gain(self, m, s):
    ...         return 2.0 if m <= 0 else 0.5
    >>> model = PerceptronLike(Impatient(0.1)).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.certificate_.separable
    True
    """

    rule: Any = None
    _: KW_ONLY
    average: Average = False

    def _recipe(self, record: Record) -> Recipe:
        rule = PerceptronRule() if self.rule is None else checked_rule(self.rule)
        if self.delta > 0 and not attribute(rule, "additive"):
            raise ValueError(f"{type(rule).__name__} is not additive, so there is no soft margin: delta must be 0.")
        return Recipe(rule)


def checked_rule(rule: Any) -> Any:
    """A user's rule with numbers as the kernels want them."""
    fields = getattr(rule, "_fields", None)
    has_formulas = hasattr(rule, "violates") and (hasattr(rule, "gain") or hasattr(rule, "weighted_gain"))
    if isinstance(rule, type) or not fields or not has_formulas:
        raise ValueError(
            f"rule={rule!r} must be an instance of a NamedTuple with at least one parameter and the formulas "
            "violates(self, m, s) and gain(self, m, s)."
        )
    numbers: Any = [x if isinstance(x, np.ndarray) else float(x) for x in rule]
    checked = type(rule)(*numbers)
    for formula in FORMULAS:
        if hasattr(checked, formula):
            _check_names(checked, formula)
    return checked


def _check_names(rule: Any, formula: str) -> None:
    """Refuse a formula with a name or an argument that is not there, before a compiler reports it at length."""
    scalars = Scalars(*[1.0] * len(Scalars._fields))
    where, arguments = f"{type(rule).__name__}.{formula}", signature(getattr(rule, formula)).parameters
    if len(arguments) != 2:
        raise ValueError(f"{where}: expected (self, m, s), found ({', '.join(['self', *arguments])}).")
    for m in (-1.0, 0.0, 1.0):  # both sides of the usual conditions
        try:
            found = getattr(rule, formula)(m, scalars)
        except AttributeError as error:
            known = getattr(error.obj, "_fields", ())
            near = get_close_matches(str(error.name), known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
            what = "the rule" if error.obj is rule else type(error.obj).__name__
            raise ValueError(
                f"{where}: {what} has no {'parameter' if error.obj is rule else 'field'} {error.name!r}. {hint}"
            ) from None
        except NameError as error:
            hint = f" Write self.{error.name}." if error.name in rule._fields else ""
            raise ValueError(f"{where}: {error}.{hint}") from None
        except (ArithmeticError, ValueError, TypeError):  # of these numbers, which are no real row's
            continue
        if not isinstance(found, (Real, np.bool_)):
            raise ValueError(f"{where}: expected a number or a truth value, found {found!r}.")
