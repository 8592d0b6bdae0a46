"""Names of classes in model files: they stay what they are when a class moves to another module.

A public class is known by its public name, "separatrix.MaxMargin"; a rule as "separatrix.rules.PerceptronRule"; what a
fit keeps inside by the name that stands here. Files of release 0.1.0 hold the modules of that time.
"""

from importlib import import_module

import separatrix

# What a model may hold besides public classes and rules: the module of each class today.
INSIDE = {
    "separatrix.Quadric": "separatrix.geometry",
    "separatrix.Space": "separatrix.space",
    "separatrix.fit.Calibration": "separatrix.fit.calibration",
    "separatrix.fit.IsotonicCalibration": "separatrix.fit.calibration",
    "separatrix.fit.Facts": "separatrix.persistence.former",
    "separatrix.fit.Record": "separatrix.fit.recipe",
    "separatrix.patterns.Kernel": "separatrix.passes.kernel_functions",
    "separatrix.state.Covariance": "separatrix.online.loops.second_order",
    "separatrix.state.Ledger": "separatrix.online.budgets",
    "separatrix.state.Margins": "separatrix.online.loops.greedy",
    "separatrix.state.Mean": "separatrix.online.loops.averaging",
    "separatrix.state.Nothing": "separatrix.online.loops.averaging",
    "separatrix.state.Pocket": "separatrix.online.loops.averaging",
    "separatrix.state.Powers": "separatrix.online.loops.multiplicative",
    "separatrix.state.Sinh": "separatrix.online.loops.multiplicative",
    "separatrix.state.State": "separatrix.online.loops.state",
    "separatrix.state.Triangle": "separatrix.online.loops.second_order",
    "separatrix.state.Variances": "separatrix.online.loops.second_order",
    "separatrix.state.Voters": "separatrix.online.loops.averaging",
}
RULES = "separatrix.rules"

# Modules of 0.1.0 whose classes have another name now; estimators and rules are found by their last word.
FORMER = {
    "separatrix.certificate": "separatrix",
    "separatrix.space": "separatrix",
    "separatrix.theory": "separatrix",
    "separatrix.gram": "separatrix.patterns",
    "separatrix.estimators.work": "separatrix.fit",
    "separatrix.kernels.epochs": "separatrix.state",
    "separatrix.kernels.greedy": "separatrix.state",
    "separatrix.kernels.least_squares": "separatrix.state",
    "separatrix.kernels.memory": "separatrix.state",
    "separatrix.kernels.winnow": "separatrix.state",
}


def stable_name(cls: type) -> str | None:
    """The name of a class of ours in a model file; None if it has none and cannot be saved."""
    for prefix in ("separatrix", RULES):
        name = f"{prefix}.{cls.__name__}"
        if class_of(name) is cls:
            return name
    return next((n for n, home in INSIDE.items() if home == cls.__module__ and n.endswith(f".{cls.__name__}")), None)


def class_of(name: str) -> type | None:
    """The class of a name, of today or of 0.1.0; None if there is none."""
    name = _today(name)
    home, _, short = name.rpartition(".")
    if name in INSIDE:
        return getattr(import_module(INSIDE[name]), short, None)
    if home == "separatrix" and short in separatrix.__all__:
        found = getattr(separatrix, short)
    elif home == RULES and short in separatrix.rules.__all__:
        found = getattr(separatrix.rules, short)
    else:
        return None
    return found if isinstance(found, type) else None


def _today(name: str) -> str:
    home, _, short = name.rpartition(".")
    if home in FORMER:
        return f"{FORMER[home]}.{short}"
    if home.startswith("separatrix.rules."):
        return f"{RULES}.{short}"
    return f"separatrix.{short}" if home.startswith("separatrix.estimators.") else name
