"""Early stopping: on held-out accuracy, or on corrections that no longer become fewer."""

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from separatrix.errors import DataError
from separatrix.online.loops.state import EPOCHS, UPDATES
from separatrix.passes.plain_patterns import Patterns


def hold_out(codes: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of training and validation part, with the classes in proportion."""
    rows = np.arange(len(codes))
    try:
        train, valid = train_test_split(rows, test_size=fraction, stratify=codes, random_state=seed)
    except ValueError as error:
        raise DataError(
            f"early_stopping cannot hold out validation_fraction={fraction} of {len(codes)} rows: {error}"
        ) from error
    return np.sort(train), np.sort(valid)


class EarlyStopping:
    """Looks at the ends of epochs; `due` once nothing has improved for ``patience`` of them."""

    def __init__(self, patience: int, validation: Patterns | None, memory: dict[str, Any]):
        self.patience, self.validation, self.memory = patience, validation, memory
        for name, start in (("best", -np.inf), ("waited", 0), ("epoch", 0), ("updates", 0)):
            memory.setdefault(name, start)

    def due(self, count: np.ndarray, vector: np.ndarray) -> bool:
        if count[EPOCHS] == self.memory["epoch"]:
            return False
        self.memory["epoch"] = int(count[EPOCHS])
        if self.validation is not None:
            score = -float(self.validation.errors(vector))
        else:
            score = -float(count[UPDATES] - self.memory["updates"])
            self.memory["updates"] = int(count[UPDATES])
        if score > self.memory["best"]:
            self.memory["best"], self.memory["waited"] = score, 0
        else:
            self.memory["waited"] += 1
        return bool(self.memory["waited"] >= self.patience)
