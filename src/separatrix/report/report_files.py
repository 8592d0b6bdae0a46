"""Reports in files: HTML in one self-contained page, Markdown, JSON."""

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import separatrix
from separatrix.errors import DataError, MissingExtraError
from separatrix.io.output import write_atomically
from separatrix.report.summary import as_dict, largest_weights, notes, rows_of, title
from separatrix.workflows.fitting import Fit

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #777; --line: #ddd; --paper: #fff; --plus: #0072B2;
  --minus: #E69F00; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --faint: #aaa; --line: #444; --paper: #161616; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 56rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.verdict { font-size: 1.1rem; border-left: 4px solid var(--plus); padding: .4rem .8rem; margin: 1rem 0; }
.verdict.no { border-color: var(--minus); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .8rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { color: var(--faint); white-space: nowrap; } td.number { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: inline-block; height: .7rem; background: var(--plus); }
.bar.minus { background-color: var(--minus);
  background-image: repeating-linear-gradient(45deg, transparent 0 4px, rgba(255, 255, 255, .7) 4px 6px); }
img { max-width: 100%; background: #fff; border-radius: 4px; }
code { background: var(--line); padding: .1rem .3rem; border-radius: 3px; } footer { color: var(--faint);
  margin-top: 2rem; font-size: .85rem; }
"""


def report_writer(path: str | Path) -> Callable[[Fit, str | Path], None]:
    """What writes a report of this ending."""
    writers = {".html": write_html, ".htm": write_html, ".md": write_markdown, ".json": write_json}
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise DataError(f"{path}: a report ends with .html, .md or .json.")
    return writers[ending]


def write_json(fit: Fit, path: str | Path) -> None:
    text = json.dumps(as_dict(fit), indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode())


def write_markdown(fit: Fit, path: str | Path) -> None:
    lines = [f"# {_markdown(title(fit))}", "", "| | |", "|---|---|"]
    lines += [f"| {_markdown(label)} | {_markdown(text)} |" for label, text in rows_of(fit)]
    for name, pairs in largest_weights(fit.model):
        lines += ["", f"## Largest weights for {_markdown(name)}", "", "| feature | weight |", "|---|---:|"]
        lines += [f"| {_markdown(feature)} | {w:+.4g} |" for feature, w in pairs]
    told = notes(fit)
    lines += ["", *[f"> {note}" for note in told], *([""] if told else [])]
    lines += [f"separatrix {separatrix.__version__}; data sha256 `{fit.table.digest}`", ""]
    write_atomically(path, "\n".join(lines).encode())


def _markdown(text: str) -> str:
    """Names and labels as text: neither tags, links nor code, on one line."""
    return re.sub(r"([\\`*|\[\]])", r"\\\1", escape(" ".join(text.splitlines()), quote=False))


def write_html(fit: Fit, path: str | Path) -> None:
    """One page with its style and pictures inside; without matplotlib it has no pictures and says so."""
    parts = [
        f"<h1>{escape(title(fit))}</h1>",
        f'<p class="verdict{"" if fit.answer.separable is True else " no"}">{escape(str(fit.answer))}</p>',
        "<table>",
        *[f"<tr><td>{escape(label)}</td><td>{escape(text)}</td></tr>" for label, text in rows_of(fit)],
        "</table>",
        *[f"<p>{escape(note)}</p>" for note in notes(fit)],
        *_weights(fit),
        *_pictures(fit),
        "<h2>Check it yourself</h2>",
        "<p>Saved with <code>--save model.sx</code>, the certificate is proved again from the data alone by "
        "<code>separatrix verify model.sx DATA</code>.</p>",
        f"<footer>separatrix {separatrix.__version__}. Data: sha256 {fit.table.digest}.</footer>",
    ]
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title(fit))}</title><style>{STYLE}</style></head><body>\n"
    )
    write_atomically(path, (head + "\n".join(parts) + "\n</body></html>\n").encode())


def _weights(fit: Fit) -> list[str]:
    parts = []
    weights = largest_weights(fit.model)
    for name, pairs in weights:
        if not pairs:
            continue
        largest = max(abs(w) for _, w in pairs)
        word = "for" if len(weights) > 1 else "positive for"
        parts += [f"<h2>Largest weights, {word} {escape(name)}</h2>", "<table>"]
        for feature, w in pairs:
            bar = f'<span class="bar{"" if w > 0 else " minus"}" style="width:{100 * abs(w) / largest:.1f}%"></span>'
            parts.append(
                f'<tr><td>{escape(feature)}</td><td class="number">{w:+.4g}</td><td style="width:60%">{bar}</td></tr>'
            )
        parts.append("</table>")
    return parts


def _pictures(fit: Fit) -> list[str]:
    from separatrix.report import figures

    parts = []
    for name, display, size in figures.PICTURES:
        try:
            url = figures.embedded(figures.drawn(fit, display, size))
        except MissingExtraError as error:
            return [f"<p>There are no pictures: {escape(str(error))}</p>"]
        except DataError:  # no hyperplane to project on
            continue
        parts.append(f'<h2>{name}</h2><img alt="{name}" src="{url}">')
    return parts
