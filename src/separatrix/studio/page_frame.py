"""The HTML around the page: its looks in light and dark, on a telephone and at a desk."""

from separatrix.plots.static.style import COLOURS

ARROW = (  # of a list, in a grey that is seen in light and dark; Bokeh's own is black
    "<svg viewBox='0 0 25 20' xmlns='http://www.w3.org/2000/svg'><path d='M 0,0 25,0 12.5,20 Z' fill='gray'/></svg>"
)

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #666; --line: #ccc; --paper: #fff; --tile: #f3f5f7;
  --blue: #0072B2; --orange: #E69F00; --type: system-ui, sans-serif; --text: 14px; --small: 12px; --title: 16px; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --faint: #aaa; --line: #4a4a4a; --paper: #161616;
  --tile: #222428; --blue: #56B4E9; } }
* { box-sizing: border-box; }
html, body { margin: 0; background: var(--paper); color: var(--ink); font: var(--text)/1.45 var(--type); }
header { display: flex; align-items: baseline; gap: .8rem; padding: .5rem 1rem 0; flex-wrap: wrap; }
header h1 { font-size: var(--title); margin: 0; } header p { margin: 0; color: var(--faint); }
#loading { grid-column: 1 / -1; margin: .4rem 5px; color: var(--faint); }
main { display: grid; grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr); gap: .4rem 1.2rem;
  padding: .3rem 1rem 1rem; }
.side { min-width: 0; } section { min-width: 0; }
@media (max-width: 52rem) { main { grid-template-columns: minmax(0, 1fr); } }
"""

# Inside widgets, whose styles are shut off from those of the page; the colours of the page reach them all the same.
WIDGET = f"""
:host {{ color: var(--ink); font: var(--text) var(--type); --surface-color: var(--tile);
  --surface-text-color: var(--ink); --primary-color: #0072B2; --button-primary-text-color: #fff; }}
label, .bk-input-group > label, span {{ color: var(--ink); }}
.bk-input, .bk-btn, label, .bk-input-group > label, h3, ::file-selector-button {{ font: var(--text) var(--type); }}
.bk-input-group > label {{ margin-bottom: 2px; }} .bk-input, .bk-btn {{ min-height: 32px; }}
.bk-input {{ color: var(--ink); background-color: var(--paper); border-color: var(--line); }}
option {{ color: var(--ink); background-color: var(--paper); }}
.bk-btn {{ color: var(--ink); background-color: var(--tile); border-color: var(--line); }}
.bk-btn.bk-btn-primary {{ color: #fff; }}
:host(.solid) .bk-btn-group .bk-btn.bk-btn-default.bk-active {{ color: var(--paper); background-color: var(--ink);
  box-shadow: none; }}
.bk-btn:focus-visible {{ outline: 2px solid var(--orange); }}
select:not([multiple]).bk-input {{ background-image: url("data:image/svg+xml;utf8,{ARROW}"); }}
::file-selector-button {{ color: var(--ink); background-color: var(--tile); border: 1px solid var(--line); }}
.card-button svg {{ stroke: var(--ink); }} :host(.card) {{ box-shadow: none; border: 1px solid var(--line); }}
"""

# The buttons of the classes carry the colours of their points.
CLASSES = """.bk-btn-group { flex-wrap: wrap; } :host(.solid) .bk-btn { padding: 6px 7px; }
@media (max-width: 30rem) { :host(.solid) .bk-btn { padding: 6px 5px; font-size: var(--small); } }""" + "".join(
    f":host(.solid) .bk-btn:nth-child({k}) {{ border-bottom: 4px solid {colour}; }}"
    for k, colour in enumerate(COLOURS, start=1)
)

WORDS = """
:host { color: var(--ink); font: var(--text)/1.45 var(--type); }
p { margin: .3rem 0; } ul { margin: .2rem 0; padding-left: 1.1rem; }
code, pre { font: var(--small)/1.4 ui-monospace, monospace; background: var(--tile); border-radius: 4px;
  padding: 0 .25rem; }
pre { padding: .5rem; overflow: auto; max-height: 16rem; }
.meter { border: 1px solid var(--line); border-radius: 4px; height: .7rem; overflow: hidden; }
.meter > div { height: 100%; background: var(--blue); }
.waiting { color: var(--faint); }
.error { border-left: 4px solid var(--orange); padding-left: .6rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: right; padding: .15rem .4rem .15rem 0;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; font-weight: normal; }
th { color: var(--faint); } td:first-child, th:first-child { text-align: left; }
h2 { font-size: var(--text); margin: .8rem 0 .2rem; }
.swatch { display: inline-block; width: 1.6rem; border-top-width: 3px; vertical-align: middle; margin-right: .3rem; }
"""

WAITING = '<p class="waiting" role="status">Computing … An algorithm is compiled when it is first used.</p>'

TEMPLATE = """
{% extends base %}
{% block title %}separatrix studio{% endblock %}
{% block postamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>STYLE</style>
{% endblock %}
{% block contents %}
<header><h1>separatrix studio</h1><p>Tap an empty place to add a point, drag to move it, tap it and press Backspace to
remove it.</p></header>
<main>
<p id="loading" role="status">Loading the studio …</p>
<section>{{ embed(roots.controls) }}{{ embed(roots.plane) }}{{ embed(roots.steps) }}{{ embed(roots.status) }}
{{ embed(roots.proof) }}</section>
<section class="side">{{ embed(roots.separators) }}{{ embed(roots.words) }}{{ embed(roots.bounds) }}
{{ embed(roots.code) }}</section>
</main>
<script>
const loaded = setInterval(() => {
  if (window.Bokeh && Bokeh.documents.length && document.querySelector("main [data-root-id] > *")) {
    document.getElementById("loading").remove();
    clearInterval(loaded);
  }
}, 50);
SCRIPT</script>
{% endblock %}
"""


def template(script: str) -> str:
    return TEMPLATE.replace("STYLE", STYLE).replace("SCRIPT", script)
