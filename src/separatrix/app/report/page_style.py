"""The looks of a report and the little that its page does by itself: light and dark, a telephone, a desk, and paper."""

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #666; --line: #ddd; --paper: #fff; --tile: #f3f5f7;
  --plus: #0072B2; --minus: #E69F00; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --faint: #aaa; --line: #444; --paper: #161616;
  --tile: #222428; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem; }
.verdict { font-size: 1.1rem; border-left: 4px solid var(--plus); padding: .4rem .8rem; margin: 1rem 0; }
.verdict.no { border-color: var(--minus); }
.note { border-left: 4px solid var(--line); padding: .1rem .8rem; color: var(--faint); }
.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(7.6rem, 1fr)); gap: .5rem; margin: 1rem 0; }
.numbers div { background: var(--tile); border-radius: 6px; padding: .5rem .7rem; }
.numbers b { display: block; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
.numbers span, figcaption, footer { color: var(--faint); font-size: .88rem; }
figure { margin: 0 0 1.2rem; min-width: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  font-weight: normal; }
.pairs th { color: var(--faint); width: 32%; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } td.room { width: 50%; }
th button { font: inherit; color: var(--faint); background: none; border: 0; padding: 0; cursor: pointer; }
th button::after { content: " \\2195"; } th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
details { border: 1px solid var(--line); border-radius: 6px; padding: .4rem .8rem; margin: .5rem 0; }
summary { cursor: pointer; font-weight: 600; } details[open] > summary { margin-bottom: .4rem; }
.bar { display: inline-block; height: .7rem; background: var(--plus); vertical-align: middle; }
.bar.minus { background-color: var(--minus);
  background-image: repeating-linear-gradient(45deg, transparent 0 4px, rgba(255, 255, 255, .7) 4px 6px); }
img { max-width: 100%; border-radius: 4px; background: #fff; }
@media (prefers-color-scheme: dark) { img { background: none; filter: invert(1) hue-rotate(180deg) contrast(.88); } }
.drop { border: 2px dashed var(--line); border-radius: 6px; padding: .2rem .8rem; } .drop p { margin: .4rem 0; }
#outcome h3 { font-size: 1rem; margin: .8rem 0 .2rem; } #outcome p { margin: .1rem 0; }
#outcome .failed { color: #B2182B; font-weight: 600; }
code { background: var(--line); padding: .1rem .3rem; border-radius: 3px; } footer { margin-top: 2rem; }
@media (max-width: 30rem) { .pairs th, .pairs td { display: block; width: auto; border: 0; padding: 0; }
  .pairs td { border-bottom: 1px solid var(--line); padding-bottom: .4rem; margin-bottom: .3rem; } }
@media print { :root { --ink: #000; --paper: #fff; --tile: #fff; --line: #bbb; } body { max-width: none; margin: 0; }
  figure, details, tr { break-inside: avoid; } th button::after { content: ""; } }
"""

# A head sorts its table; paper shows what is folded.
SCRIPT = """
for (const button of document.querySelectorAll(".sorts th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    const column = head.cellIndex, down = head.getAttribute("aria-sort") !== "descending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)], [p, q] = [Number(x), Number(y)];
      return Number.isNaN(p) || Number.isNaN(q) ? String(x).localeCompare(String(y)) : p - q;
    };
    const rows = [...body.rows].sort((a, b) => down ? compare(b, a) : compare(a, b));
    body.append(...rows);
  });
}
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
"""
