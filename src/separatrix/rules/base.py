"""What a Perceptron-like rule is, and the verbs by which the compiled loop asks it.

A rule is a ``NamedTuple`` of numbers with one-line formulas over the quantities that the loop keeps at hand.
Only ``violates`` and one of ``gain`` and ``weighted_gain`` are required:

``violates(self, m, s)``
    is this pattern to be corrected? ``m`` is ``a.y``. The boundary convention of a rule (``<=`` or ``<``) stands
    here and nowhere else.
``gain(self, m, s)``
    the multiple of the pattern that is added; the loop multiplies it by the sample weight.
``weighted_gain(self, m, s)``
    the same for rules in which the weight ``s.weight`` enters in another way.
``keep(self, m, s)``
    what remains of ``a`` before the addition (1 unless defined; 0 starts afresh).
``shrink(self, s)``
    the factor on ``a`` after the addition (1 unless defined; 0 starts afresh).
``negligible(self, m, s)``
    is this correction too small to count against convergence (never unless defined)?

One update is ``a <- shrink * (keep * a + gain * y)``, the taxonomy of CRAMMA section 2, eq. 3.

What else a rule needs is said with the decorator `rule`; the defaults are those of `ATTRIBUTES`.
"""

import hashlib
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numba import typeof, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, overload


class Scalars(NamedTuple):
    """State that a formula may use in addition to its parameters and ``m = a.y``.

    Attributes
    ----------
    t : float
        1 + number of updates so far.
    visit : float
        Number of samples processed so far, including this one.
    norm2, flat2 : float
        |a|^2 with and without the intercept coordinate; in the extended space if there is one.
    total : float
        Sum of alpha, the multiples of samples that make up a.
    yy : float
        |y|^2 of this sample.
    radius2 : float
        R^2 = max |y|^2.
    weight : float
        Sample weight.
    """

    t: float
    visit: float
    norm2: float
    flat2: float
    total: float
    yy: float
    radius2: float
    weight: float


class Rule(Protocol):
    """A ``NamedTuple`` of parameters with formulas; the others are optional."""

    def violates(self, m: float, s: Scalars) -> bool: ...


ATTRIBUTES: dict[str, Any] = {
    "additive": True,  # a is a non-negative combination of patterns, so |a| / sum alpha is an upper bound
    "unit_patterns": False,  # patterns are divided by R
    "starts_on_first": False,  # a_1 = y_1 / |y_1| instead of 0
    "loop": "additive",  # which kernel runs it
}


# Options of what is compiled: only compiled code and Python call it, so C's way in, a tenth of the work, is left out.
UNWRAPPED: Any = {"no_cfunc_wrapper": True}

T = TypeVar("T", bound=type)


def rule(**attributes: Any) -> Callable[[T], T]:
    """Class decorator: ``@rule(unit_patterns=True)`` sets attributes that differ from their defaults."""
    unknown = set(attributes) - set(ATTRIBUTES)
    if unknown:
        raise ValueError(f"A rule has no attribute {sorted(unknown)}; there are {sorted(ATTRIBUTES)}.")

    def decorate(cls: T) -> T:
        for name, value in attributes.items():
            setattr(cls, name, value)
        return cls

    return decorate


def attribute(rule: Rule, name: str) -> Any:
    """The rule's class attribute, or its default."""
    return getattr(rule, name, ATTRIBUTES[name])


def _gain_times_weight(rule, m, s):
    return gain(rule, m, s) * s.weight


def verb(name: str, default: Any = None, **options: Any) -> Callable:
    """A function that asks its first argument, a ``NamedTuple``, by the method of this name; compiled code inlines it.

    Calling it instead would send all arrays of its arguments over the stack, word by word. ``default``: what to do, or
    what to answer, where there is no such method; a constant is not compiled for every rule again.
    """

    def ask(subject, *arguments):
        method = getattr(type(subject), name, default)
        return method(subject, *arguments) if callable(method) else method

    @overload(ask, strict=False, jit_options={"forceinline": True, **UNWRAPPED, **options})
    def _ask(subject, *arguments):
        method = getattr(subject.instance_class, name, default)
        return method if callable(method) else None

    if default is not None and not callable(default):
        kind = typeof(default)

        class Constant(AbstractTemplate):
            key = ask

            def generic(self, args, kws):
                return None if hasattr(args[0].instance_class, name) else signature(kind, *args)

        infer_global(ask, types.Function(Constant))

        @lower_builtin(ask, types.VarArg(types.Any))
        def _answer(context, builder, signature, arguments):
            return context.get_constant(kind, default)

    return ask


def verb_of_rules_with(formulas: tuple[str, ...], function: Callable) -> Callable:
    """Return ``function`` for rules that define one of these formulas; for other rules it does nothing, and nothing is
    compiled."""

    def defined(cls: type) -> bool:
        return any(hasattr(cls, name) for name in formulas)

    def nothing(rule, *arguments):
        return None

    def ask(rule, *arguments):
        return function(rule, *arguments) if defined(type(rule)) else None

    @overload(ask, strict=False, jit_options={"forceinline": True, **UNWRAPPED})
    def _ask(rule, *arguments):
        return function if defined(rule.instance_class) else nothing

    return ask


ALLOCATES: Any = {"_nrt": True}  # as a formula of one's own may, though the loop around it does not

violates, gain = verb("violates", **ALLOCATES), verb("gain", **ALLOCATES)
weighted_gain = verb("weighted_gain", _gain_times_weight, **ALLOCATES)
keep, shrink = verb("keep", 1.0, **ALLOCATES), verb("shrink", 1.0, **ALLOCATES)
negligible = verb("negligible", False, **ALLOCATES)

precision = verb("precision", **ALLOCATES)  # of rules with a covariance

FORMULAS = ("violates", "gain", "weighted_gain", "keep", "shrink", "negligible", "precision")


def digest(cls: type) -> str:
    """A fingerprint of a rule's formulas and of all that they call.

    It goes into the kernel's cache key: numba itself sees only the file of the kernel, so an edited formula would keep
    running in its old form.
    """
    seen: dict[str, str] = {}
    for name in FORMULAS:
        formula = getattr(cls, name, None)
        if formula is not None:
            _fingerprint(formula, seen)
    return hashlib.sha256(repr((cls.__qualname__, sorted(seen.items()))).encode()).hexdigest()


def _fingerprint(function: Any, seen: dict[str, str]) -> None:
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        return
    name = f"{function.__module__}.{function.__qualname__}"
    if name in seen:
        return
    seen[name] = repr((_constants(function.__code__), function.__defaults__))
    outside = {k: function.__globals__[k] for k in function.__code__.co_names if k in function.__globals__}
    for cell_name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        outside[cell_name] = cell.cell_contents
    for key, value in outside.items():
        _enter(f"{name}:{key}", value, function.__code__.co_names, seen)


def _enter(name: str, value: Any, used: tuple[str, ...], seen: dict[str, str], above: tuple[Any, ...] = ()) -> None:
    """Note what a formula, which uses these names, takes from outside: compiled code holds the value of today."""
    if isinstance(value, ModuleType):
        seen[name] = value.__name__
        for part in used if value not in above else ():
            if hasattr(value, part):
                _enter(f"{name}.{part}", getattr(value, part), used, seen, (*above, value))
    elif callable(value):
        seen[name] = f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', '')}"
        _fingerprint(value, seen)
    elif isinstance(value, np.ndarray):
        seen[name] = repr((value.dtype, value.shape, value.tobytes()))
    else:
        plain = isinstance(value, (bool, int, float, complex, str, bytes, tuple, list, dict, np.generic))
        seen[name] = repr(value) if plain else repr(type(value))  # other objects show their address


def _constants(code: CodeType) -> tuple:
    constants = tuple(_constants(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts)
    return code.co_code, constants, code.co_names
