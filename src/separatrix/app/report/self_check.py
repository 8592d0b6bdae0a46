"""The part of a report that verifies itself: certificates, the preparation of the columns, and a checker in JavaScript.

The reader drops the data file on the page. `self_check.js` reads it as the fit did, `checker.js` decides the claims.
"""

import base64
import hashlib
import json
import shlex
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.app.report.table_rows import file_name
from separatrix.app.saved_models import prepared
from separatrix.app.tables.delimited import MISSING
from separatrix.app.workflows.fitting import Fit
from separatrix.app.workflows.own_claims import about_what_predicts, against_the_rest, misfit, problem_names
from separatrix.app.workflows.verifying import verified
from separatrix.certificates import checker
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.verification import exact_weights
from separatrix.errors import ModelError
from separatrix.persistence.export import preprocessing
from separatrix.persistence.portable import portable

MOST_BYTES = 200_000_000  # of a table that a page reads
EXACT = 2**53  # integers up to here are numbers of JavaScript
ROWS_AT_A_TIME = 4096
CHECKER = Path(checker.__file__).with_suffix(".js").read_text(encoding="utf-8")
READER = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def section(fit: Fit) -> tuple[str, list[str]]:
    """The section of the page, and the scripts that it needs."""
    verdicts = proof(fit)
    command = (
        f"<p>Or run <code>{escape(command_of(fit))}</code>, with the model that <code>--save model.sx</code> wrote.</p>"
    )
    if "unchecked" in verdicts:
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in verdicts["unchecked"])
        return f"<p>This page cannot check the claims in a browser:</p><ul>{reasons}</ul>{command}", []
    text = json.dumps(verdicts, allow_nan=False).replace("<", "\\u003c")  # no text of the data ends the element
    return (
        f'<div class="drop" id="drop"><p>Drop the file <b>{escape(file_name(fit.table.source))}</b> here, or choose '
        'it: <input type="file" id="file" aria-label="The data file"></p><p>Your browser reads the file and checks '
        "each claim against it. Nothing leaves this page.</p></div>"
        '<div id="outcome" role="status"></div><noscript><p>The check needs JavaScript.</p></noscript>'
        f'{command}<script type="application/json" id="proof">{text}</script>'
    ), [CHECKER, READER]


def command_of(fit: Fit) -> str:
    """Return the command that checks everything, without a browser."""
    return f"separatrix verify model.sx {shlex.quote(file_name(fit.table.source))}"


def proof(fit: Fit) -> dict[str, Any]:
    """Return what the page needs to check the claims, or ``{"unchecked": reasons}``."""
    reasons = _unchecked(fit)
    if reasons:
        return {"unchecked": reasons}
    table, separator = fit.table, fit.separator
    try:
        model = portable(fit.model)
    except ModelError as error:
        return {"unchecked": [str(error)]}
    assert table.layout is not None
    X = prepared(fit.model, table.X)
    codes = np.searchsorted(separator.classes_, table.y)
    mark, header, comma = table.layout
    return {
        "format": "separatrix report",
        "version": 1,
        "file": {"name": file_name(table.source), "sha256": table.digest, "most_bytes": MOST_BYTES},
        "reading": {"separator": mark, "header": header, "decimal_comma": comma, "missing": MISSING},
        "target": table.target,
        "classes": _labels(separator.classes_),
        "preprocessing": preprocessing(model),
        "rows": {"count": table.n, "sha256": _digest(X, codes)},
        "claims": [*_claims(fit, X, codes)],
        "command": command_of(fit),
    }


def _unchecked(fit: Fit) -> list[str]:
    """Why a page cannot check the claims; empty if it can."""
    table, separator = fit.table, fit.separator
    if not hasattr(separator, "certificates_"):
        return [f"A {type(separator).__name__} has no certificate."]
    reasons = []
    if table.layout is None or table.encoding is not None:
        how = table.format if table.encoding is None else f"{table.format} in {table.encoding}"
        if table.format in ("csv", "tsv") and table.encoding is None:
            how = "text with comments before the table or spaces between the columns"
        reasons.append(f"It reads CSV files in UTF-8, and {table.source} is {how}.")
    reasons += [f"The column {name!r} holds {how}." for name, how in table.spelled]
    if any(claim.kernel is not None for claim in separator.certificates_):
        reasons.append("Claims about kernels are checked by the command only.")
    if table.nbytes > MOST_BYTES:
        reasons.append(f"The table takes {table.nbytes / 1e6:,.0f} MB, the limit is {MOST_BYTES / 1e6:,.0f} MB.")
    wrong = misfit(separator)
    return [*reasons, *([f"The model does not fit its certificates: {wrong}."] if wrong else [])]


def _labels(classes: np.ndarray) -> dict[str, Any]:
    """Classes by what they are, as strings; whole numbers that a float64 may not hold are hexadecimal."""
    kind = {"i": "number", "u": "number", "b": "truth"}.get(classes.dtype.kind, "text")
    values = [hex(v) if kind == "number" and abs(v) > EXACT else str(v) for v in classes.tolist()]
    return {"kind": kind, "values": [v.lower() if kind == "truth" else v for v in values]}


def _claims(fit: Fit, X: Any, codes: np.ndarray) -> Iterable[dict[str, Any]]:
    """Every certificate, and the claims about the vectors that predict, by the code that verifies them elsewhere."""
    separator, asked = fit.separator, []
    places = {label: k for k, label in enumerate(separator.classes_.tolist())}

    def note(claim: Certificate, X: Any, labels: np.ndarray) -> Verification:
        asked.append((claim, labels))
        return Verification(("noted",), (), ())

    verified(separator, X, fit.table.y, note)
    own = len(asked)
    about_what_predicts(separator, X, fit.table.y, note)
    rest, names = against_the_rest(separator), problem_names(separator)
    pairs = [claim.class_pair for claim in separator.certificates_]
    for i, (claim, labels) in enumerate(asked):
        alone = int(codes[np.argmax(labels)]) if rest else None  # the class against the rest
        form = {**claim.as_plain(), **(exact_weights(claim, X, labels) if claim.separable is False else {})}
        if claim.class_pair is not None:
            form["class_pair"] = [places[label] for label in claim.class_pair]
        about = names[pairs.index(claim.class_pair) if alone is None else alone]
        yield {"about": about, "of": "what predicts" if i >= own else "", "alone": alone, "certificate": form}


def _digest(X: Any, codes: np.ndarray) -> str:
    """Return the SHA-256 of the prepared rows, then of the numbers of their classes, as little-endian doubles."""
    found = hashlib.sha256()
    for first in range(0, len(codes), ROWS_AT_A_TIME):
        rows = X[first : first + ROWS_AT_A_TIME]
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype="<f8")
        found.update(np.ascontiguousarray(rows + 0.0).tobytes())  # -0.0 becomes 0.0, which sparse rows do not keep
    found.update(codes.astype("<f8").tobytes())
    return found.hexdigest()


def policy(scripts: Iterable[str], style: str) -> str:
    """Return a Content-Security-Policy: only these scripts and this style run, and nothing is loaded or sent.

    Without a style: scripts and styles of any text inside the page, as BokehJS needs them.
    """
    run = " ".join(map(_hash, scripts)) if style else "'unsafe-inline' 'unsafe-eval'"
    looks = _hash(style) if style else "'unsafe-inline'"
    sources = f"default-src 'none'; script-src {run}; style-src {looks}; img-src data:"
    return f"{sources}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
