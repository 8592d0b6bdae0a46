// A report that verifies itself: reads the data file as the fit did, and lets checker.js decide the claims.
//
// In node: require("self_check.js").verify(require("checker.js"), proof, name, bytes), `proof` being the JSON text of
// the element #proof. On a page it waits for a file. Whatever comes from files is text on the page, never HTML.
"use strict";
const separatrixReport = (() => {
  class Unread extends Error {} // the file is no table of this report

  // Lines of CSV with their numbers; quotes as in RFC 4180.
  function* records(text, separator) {
    for (let at = 0, line = 1; at < text.length;) {
      const first = line, fields = [], after = (from) => { const k = text.indexOf("\n", from); return k < 0 ? text.length : k; };
      let end = after(at);
      for (let open = true; open;) {
        let field = "";
        if (text[at] === '"') {
          for (at += 1; ; at += 2) {
            const close = text.indexOf('"', at);
            if (close < 0) throw new Unread(`line ${first}: a quote is not closed`);
            field += text.slice(at, close);
            at = close;
            if (text[at + 1] !== '"') break;
            field += '"';
          }
          at += 1;
          end = after(at);
          line += field.split("\n").length - 1;
        }
        let next = text.indexOf(separator, at);
        if (next < 0 || next > end) [next, open] = [end, false];
        field += text.slice(at, next);
        fields.push(open || !field.endsWith("\r") ? field : field.slice(0, -1));
        at = next + 1;
      }
      line += 1;
      if (fields.length > 1 || trimmed(fields[0])) yield [first, fields];
    }
  }
  const trimmed = (text) => text.replace(/^[\p{White_Space}]+|[\p{White_Space}]+$/gu, "");

  const OPERATIONS = {
    fill: (x, v) => (x !== x ? v : x),
    subtract: (x, v) => x - v,
    divide: (x, v) => x / v,
    multiply: (x, v) => x * v,
    add: (x, v) => x + v,
  };
  const operations = (steps) => steps.map(([name, values]) => {
    if (!Object.hasOwn(OPERATIONS, name)) throw new Unread(`the step ${name} is unknown`);
    return [OPERATIONS[name], values.map(Number)];
  });

  // The prepared rows as a matrix of checker.js, the numbers of their classes, and both as bytes.
  const prepare = (text, proof) => {
    const reading = proof.get("reading"), separator = reading.get("separator"), comma = reading.get("decimal_comma");
    const missing = new Set(reading.get("missing")), lines = records(text, separator);
    const known = proof.get("preprocessing"), columns = known.get("columns").map((column) => column.get("name"));
    let first = lines.next();
    if (first.done) throw new Unread("the file is empty");
    const header = reading.get("header"), width = first.value[1].length;
    const names = first.value[1].map((field, i) =>
      (header ? trimmed(field) || `unnamed column ${i + 1}` : `column_${i + 1}`));
    const place = (name) => {
      const at = names.indexOf(name);
      if (at < 0 || names.indexOf(name, at + 1) >= 0) throw new Unread(`there is no column "${name}", or several`);
      return at;
    };
    const places = columns.map((name, i) => (known.get("columns")[i].get("kind") === "unused" ? -1 : place(name)));
    const target = place(proof.get("target")), label = labels(proof.get("classes"));
    const number = (field, line, name) => {
      let given = trimmed(field);
      if (missing.has(given)) return NaN;
      if (comma) given = given.replace(",", ".");
      if (/^(true|false)$/i.test(given)) return given.length === 4 ? 1 : 0;
      if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(given)) return Number(given);
      throw new Unread(`line ${line}: expected a number in the column "${name}", found "${given}"`);
    };
    const parts = known.get("parts").map((part) => {
      if (!part.has("codes")) {
        const steps = operations(part.get("steps")), at = part.get("columns").map(Number);
        return {width: at.length, read: (fields, line, put) => at.forEach((column, j) => {
          let x = number(fields[places[column]], line, columns[column]);
          for (const [apply, values] of steps) x = apply(x, values[j]);
          put(j, x);
        })};
      }
      const codes = part.get("codes"), column = Number(part.get("column"));
      return {width: Number(part.get("width")), read: (fields, line, put, size) => {
        const given = trimmed(fields[places[column]]);
        const code = missing.has(given) ? part.get("missing") : codes.has(given) ? codes.get(given) : part.get("unknown");
        if (code === null) throw new Unread(`line ${line}: "${given}" in the column "${columns[column]}" is unknown`);
        for (let j = 0; j < size; j++) put(j, j === Number(code) ? 1 : 0);
      }};
    });
    const d = parts.reduce((sum, part) => sum + part.width, 0), last = operations(known.get("steps"));
    const codes = [];
    let values = new Float64Array(1024 * d), n = 0;
    for (let record = header ? lines.next() : first; !record.done; record = lines.next()) {
      const [line, fields] = record.value;
      if (fields.length !== width) throw new Unread(`line ${line}: expected ${width} fields, found ${fields.length}`);
      const given = trimmed(fields[target]);
      if (missing.has(given)) continue; // as in the fit, rows without a label take no part
      codes.push(label(given, line));
      if ((n + 1) * d > values.length) {
        const larger = new Float64Array(2 * values.length);
        larger.set(values);
        values = larger;
      }
      let offset = n * d;
      for (const part of parts) {
        part.read(fields, line, (j, x) => { values[offset + j] = x; }, part.width);
        offset += part.width;
      }
      for (let k = n * d; k < offset; k++) {
        for (const [apply, each] of last) values[k] = apply(values[k], each[k - n * d]);
        if (!Number.isFinite(values[k])) throw new Unread(`line ${line}: a value is missing or not finite`);
        values[k] += 0; // -0 becomes 0
      }
      n += 1;
    }
    if (!n) throw new Unread("there are no rows");
    const all = new Float64Array(n * d + n);
    all.set(values.subarray(0, n * d));
    all.set(codes, n * d);
    return {X: {n, d, values: all.subarray(0, n * d), wide: new Map()}, codes, all};
  };

  // The number of the class that a field names.
  const labels = (classes) => {
    const kind = classes.get("kind"), whole = (text) => BigInt(text[0] === "-" ? text.slice(1) : text) * (text[0] === "-" ? -1n : 1n);
    const key = (text) => {
      if (kind === "truth") return text.toLowerCase();
      if (kind !== "number") return text;
      if (/^([-+]?\d+|-?0x[0-9a-f]+)$/.test(text)) return String(whole(text.replace("+", "")));
      const x = /^[-+]?[\d.]+([eE][-+]?\d+)?$/.test(text) ? Number(text) : NaN;
      return Number.isSafeInteger(x) ? String(x) : text;
    };
    const places = new Map(classes.get("values").map((value, k) => [key(value), k]));
    return (field, line) => {
      const found = places.get(key(field));
      if (found === undefined) throw new Unread(`line ${line}: the class "${field}" is unknown`);
      return found;
    };
  };

  const digest = async (bytes) => {
    const subtle = globalThis.crypto?.subtle; // pages from files and from https have it
    if (!subtle) return null;
    return Array.from(new Uint8Array(await subtle.digest("SHA-256", bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
  };

  // What the claims say, from the numbers that are checked and from nothing else.
  const words = (claim) => {
    const slack = Number(claim.get("hinge") ?? 0) || Number(claim.get("delta") ?? 0), said = {};
    const short = (name) => Number(claim.get(name)).toPrecision(6);
    const objective = (name) => (0.5 / Number(claim.get(name)) ** 2).toPrecision(6);
    said.lower = slack ? `the objective is at most ${objective("lower")}` : `the margin ${short("lower")} is achieved`;
    said.upper = slack ? `no objective is below ${objective("upper")}` : `no margin is above ${short("upper")}`;
    said.separable = claim.get("separable") ? "a hyperplane separates the classes" : "no hyperplane separates the classes";
    said.radius = `the longest row has the length ${short("radius")}`;
    return said;
  };

  // Every claim on the rows of a file. `tell(outcome)` is called after each certificate; `pause` lets a page draw.
  const verify = async (checker, text, name, bytes, tell = () => {}, pause = async () => {}) => {
    const proof = checker.parse(text), file = proof.get("file"), command = proof.get("command");
    const found = {name, command, outcomes: [], verdict: "unchecked", why: "", rows: null};
    if (proof.get("version") !== 1n) return {...found, why: "this report is of another version"};
    if (bytes.byteLength > file.get("most_bytes")) {
      return {...found, why: `files above ${Number(file.get("most_bytes")) / 1e6} MB are not read on a page`};
    }
    let rows;
    try {
      rows = prepare(new TextDecoder("utf-8", {fatal: true}).decode(bytes), proof);
    } catch (error) {
      if (!(error instanceof Unread || error instanceof TypeError)) throw error;
      return {...found, why: error instanceof Unread ? error.message : "this is not text in UTF-8"};
    }
    const [own, told] = [await digest(rows.all), await digest(bytes)];
    const same = own === null ? null : own === proof.get("rows").get("sha256");
    Object.assign(found, {rows: rows.X.n, same});
    if (same === false && told === file.get("sha256")) {
      return {...found, why: "this is the file of the fit, but this page reads some of its fields in another way"};
    }
    for (const claim of proof.get("claims")) {
      await pause();
      const alone = claim.get("alone"), certificate = claim.get("certificate");
      const y = alone === null ? rows.codes : rows.codes.map((c) => Number(BigInt(c) === alone));
      const outcome = checker.check(rows.X, y, certificate), said = words(certificate);
      const list = (of) => outcome[of].map((what) => said[what.split(" ")[0]] ?? what);
      const each = {about: claim.get("about"), of: claim.get("of"), holds: checker.holds(outcome), notes: outcome.notes};
      found.outcomes.push({...each, checked: list("checked"), failed: list("failed"), unchecked: list("unchecked")});
      tell(found.outcomes.at(-1));
    }
    if (found.outcomes.length && found.outcomes.every((outcome) => outcome.holds)) found.verdict = "holds";
    if (found.outcomes.some((outcome) => outcome.failed.length)) found.verdict = "fails";
    return found;
  };

  // The page

  const attach = (document, checker) => {
    const drop = document.getElementById("drop"), outcome = document.getElementById("outcome");
    const proof = document.getElementById("proof").textContent;
    const add = (kind, text, more = "") => {
      const made = document.createElement(kind);
      made.textContent = text;
      if (more) made.className = more;
      outcome.append(made);
    };
    const claims = ({about, of, checked, failed, unchecked, notes}) => {
      add("h3", of ? `${about}: ${of}` : about);
      for (const said of checked) add("p", `\u2713 ${said}`, "checked");
      for (const said of failed) add("p", `\u2717 FAILS: ${said}`, "failed");
      for (const said of unchecked) add("p", `not checked: ${said}`, "failed");
      for (const said of notes) add("p", said, "note");
    };
    const verdict = (found) => { // above the claims
      const rows = found.same === null ? "Whether its rows are those of the fit is unknown."
        : found.same ? "Its rows are those of the fit." : "Its rows are not those of the fit.";
      const command = `Run: ${found.command}`;
      if (found.verdict === "holds") add("p", `All claims hold on ${found.name}. ${rows}`, found.same ? "verdict" : "verdict no");
      else if (found.verdict === "fails") add("p", `The certificate does NOT hold on ${found.name}. ${rows}`, "verdict no");
      else add("p", `${found.name} was not checked${found.why && `: ${found.why}`}. ${command}`, "verdict no");
    };
    let busy = false;
    const take = async (file) => {
      if (!file || busy) return;
      busy = true;
      outcome.replaceChildren();
      add("p", `Checking ${file.name} ...`);
      const most = checker.parse(proof).get("file").get("most_bytes");
      const bytes = file.size > most ? {byteLength: file.size} : await file.arrayBuffer();
      const pause = () => new Promise((go) => setTimeout(go, 20));
      try {
        const found = await verify(checker, proof, file.name, bytes, claims, pause);
        outcome.firstChild.remove();
        verdict(found);
        outcome.prepend(outcome.lastChild);
      } catch (error) {
        outcome.replaceChildren();
        add("p", `The check ended with an error: ${error.message}`, "verdict no");
      }
      busy = false;
    };
    document.getElementById("file").addEventListener("change", (event) => take(event.target.files[0]));
    for (const name of ["dragover", "drop"]) {
      document.addEventListener(name, (event) => { // a file that misses the field does not replace the page
        event.preventDefault();
        if (name === "drop") take(event.dataTransfer.files[0]);
      });
    }
    drop.hidden = false;
  };
  return {attach, prepare, records, verify};
})();

if (typeof module === "object" && module.exports) module.exports = separatrixReport;
else if (typeof document === "object") separatrixReport.attach(document, separatrixChecker);
