// Is a certificate true? checker.py in plain JavaScript: one file without dependencies, for web pages and for node.
//
// node checker.js data.json certificate.json [all]; data.json: {"X": rows, "y": labels}, perhaps "sample_weight".
// Exit status 0 if every claim holds. In a page: separatrixChecker.check(matrix(X), y, claim), claim by `parse`.
//
// docs/reference/certificate_format.md says what the claims mean, checker.py proves the bounds on rounding errors; its
// names and the order of its steps are kept here. Floats come first; what they leave in doubt is done again in fractions
// of BigInt. `parse` reads integers as BigInt, so that 2^53 + 1 stays what it is, floats as numbers, and objects as Map.
"use strict";
const separatrixChecker = (() => {
  const MAX = Number.MAX_VALUE, INF = Infinity, EPS = 2 ** -52, TINY = 2 ** -1018;
  const MOST_PATTERNS = 2 ** 28, MOST_EXACT = 1e6; // as in checker.py
  const CLAIMS = ["lower", "upper", "separable", "weak", "radius"];
  const DEFAULT = {rho: 1, delta: 0, hinge: 0, free: false, weighted: false, fixed_length: false, class_pair: null,
    n_classes: 2n, signs: "", l1: false};
  const VECTORS = ["sample_weight", "direction", "alpha_index", "alpha", "alpha_exact", "slack_vector"];

  class Stop extends Error { // verdict false: not well-formed, hence no claim; null: beyond the limits
    constructor(why, verdict) { super(why); this.verdict = verdict; }
  }
  const need = (condition, why, verdict = false) => { if (!condition) throw new Stop(why, verdict); };

  // JSON

  const parse = (text) => {
    let at = 0;
    const number = /-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y, string = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
    const words = {true: true, false: false, null: null, NaN: NaN, Infinity: INF, "-Infinity": -INF};
    const wrong = () => { throw new Stop(`this is not JSON at character ${at}`, false); };
    const found = (pattern) => {
      pattern.lastIndex = at;
      const m = pattern.exec(text);
      if (m) at += m[0].length;
      return m;
    };
    const blank = () => { found(/[ \t\n\r]*/y); };
    const expect = (sign) => { blank(); if (text[at] !== sign) wrong(); at += 1; };
    const more = (end) => { blank(); if (text[at] === end) { at += 1; return false; } expect(","); return true; };
    const key = () => { blank(); return JSON.parse((found(string) ?? wrong())[0]); };
    const value = (depth) => {
      need(depth < 500, "this JSON is nested too deeply");
      blank();
      const first = text[at];
      if (first === "{" || first === "[") {
        const map = new Map(), list = [], end = first === "{" ? "}" : "]";
        at += 1;
        blank();
        if (text[at] === end) { at += 1; return first === "{" ? map : list; }
        do {
          if (first === "[") { list.push(value(depth + 1)); continue; }
          const name = key();
          need(!map.has(name), "a field stands twice in the certificate");
          expect(":");
          map.set(name, value(depth + 1));
        } while (more(end));
        return first === "{" ? map : list;
      }
      if (first === '"') return key();
      for (const word of Object.keys(words)) if (text.startsWith(word, at)) { at += word.length; return words[word]; }
      const m = found(number) ?? wrong();
      if (m[0].length > 4300) wrong(); // the limit of Python's integers
      return m[2] === undefined && m[3] === undefined ? BigInt(m[0]) : Number(m[0]);
    };
    const result = value(0);
    blank();
    return at === text.length ? result : wrong();
  };

  // Floats, bit by bit

  const cell = new DataView(new ArrayBuffer(8));
  const bits = (x) => { cell.setFloat64(0, x); return cell.getBigInt64(0); };
  const up = (x) => { // the next larger float: above the true result of the one rounded operation that gave x
    if (x === INF || x !== x) return x;
    if (x === 0) return Number.MIN_VALUE;
    cell.setFloat64(0, x);
    cell.setBigInt64(0, cell.getBigInt64(0) + (x > 0 ? 1n : -1n));
    return cell.getFloat64(0);
  };
  const exponent = (x) => { // of frexp: |x| = m 2^e, 1/2 <= m < 1
    if (x === 0 || !Number.isFinite(x)) return 0;
    const e = Number((bits(x) >> 52n) & 0x7ffn);
    return e ? e - 1022 : exponent(x * 2 ** 64) - 64;
  };
  const ldexp = (x, k) => { // x 2^k, rounded once
    if (x === 0 || !Number.isFinite(x) || k === 0) return x;
    const e = exponent(x);
    if (e + k > 1024) return x > 0 ? INF : -INF;
    if (e + k < -1080) return x > 0 ? 0 : -0;
    const half = Math.trunc(e / 2), m = x * 2 ** -half * 2 ** (half - e), shift = e + k; // m is exact
    if (shift > 1000) return m * 2 ** 1000 * 2 ** (shift - 1000);
    return shift < -1000 ? m * 2 ** (shift + 1000) * 2 ** -1000 : m * 2 ** shift;
  };
  const largest = (v) => { // in size; NaN if there is one
    let most = 0;
    for (const x of v) most = Math.max(most, Math.abs(x));
    return most;
  };
  const smallest = (v) => {
    let least = INF;
    for (const x of v) least = Math.min(least, x);
    return least;
  };
  const scaled = (v) => { const u = exponent(largest(v)); return [Float64Array.from(v, (x) => ldexp(x, -u)), u]; };
  const total = (v) => { // not below the sum, by Shewchuk's exact partial sums; Infinity where it might overflow
    if (!(largest(v) < 2 ** 900)) return INF;
    const partial = [];
    for (let x of v) {
      let kept = 0;
      for (let y of partial) {
        if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
        const high = x + y, low = y - (high - x);
        if (low) partial[kept++] = low;
        x = high;
      }
      partial.length = kept;
      partial.push(x);
    }
    return up(up(partial.reduceRight((sum, x) => up(sum + x), 0)));
  };

  // Fractions: n 2^e / d, d > 0

  const divisor = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
  class Q {
    constructor(n, e = 0, d = 1n) { this.n = n; this.e = n ? e : 0; this.d = n ? d : 1n; }
    static of(x) {
      if (typeof x === "bigint") return new Q(x);
      if (!Number.isFinite(x)) throw new RangeError("not finite");
      if (x === 0) return ZERO;
      const e = Math.max(exponent(x), -1021) - 53;
      let n = BigInt(ldexp(x, -e)), shift = 0;
      while (!(n & 0xffffn)) { n >>= 16n; shift += 16; }
      while (!(n & 1n)) { n >>= 1n; shift += 1; }
      return new Q(n, e + shift);
    }
    shift(k) { return new Q(this.n, this.e + k, this.d); }
    neg() { return new Q(-this.n, this.e, this.d); }
    abs() { return this.n < 0n ? this.neg() : this; }
    add(o) {
      if (!this.n || !o.n) return this.n ? this : o;
      const e = Math.min(this.e, o.e), a = this.n << BigInt(this.e - e), b = o.n << BigInt(o.e - e);
      return this.d === o.d ? new Q(a + b, e, this.d) : new Q(a * o.d + b * this.d, e, this.d * o.d).reduced();
    }
    sub(o) { return this.add(o.neg()); }
    mul(o) { return new Q(this.n * o.n, this.e + o.e, this.d * o.d); }
    div(o) {
      if (!o.n) throw new RangeError("division by zero");
      const n = this.n * o.d, d = this.d * o.n;
      return new Q(d < 0n ? -n : n, this.e - o.e, d < 0n ? -d : d).reduced();
    }
    reduced() {
      if (this.d === 1n) return this;
      const g = divisor(this.n, this.d);
      return new Q(this.n / g, this.e, this.d / g);
    }
    sign() { return this.n > 0n ? 1 : this.n < 0n ? -1 : 0; }
    less(o) { return this.sub(o).n < 0n; }
    most(o) { return this.sub(o).n <= 0n; } // this <= o
    above() { // a float that is not smaller
      const size = (v) => v.toString(16).length * 4, k = size(this.abs().n) - size(this.d) - 70;
      const n = k < 0 ? this.n << BigInt(-k) : this.n >> BigInt(k);
      return up(up(ldexp(Number(n / this.d), this.e + k)));
    }
  }
  const ZERO = new Q(0n), ONE = new Q(1n);
  const larger = (a, b) => (a.less(b) ? b : a);
  const sumOf = (v) => v.reduce((sum, x) => sum.add(x), ZERO);
  const square = (x) => x.mul(x);
  const least = (v) => v.reduce((a, b) => (b.less(a) ? b : a));
  const asFloat = (k) => { if (k > 1023) throw new RangeError("overflow"); return 2 ** k; }; // 2^k, refused like Python's

  // The parts of a certificate

  const list = (values, name, fine, length = null) => {
    need(values !== null && values !== undefined, `it comes without ${name}`, null);
    const fits = Array.isArray(values) && (length === null || values.length === length);
    need(fits, `${name} is no list of the right length`);
    need(values.every(fine), `${name} holds what does not belong there, or is not finite`);
    return values;
  };
  const isNumber = (v, from) => ["number", "bigint"].includes(typeof v) && from <= v && v <= MAX && Number(v) == v;
  const vector = (values, length, name, from = -MAX) =>
    Float64Array.from(list(values, name, (v) => isNumber(v, from), length), Number);

  const matrix = (X) => { // rows of numbers; integers may be BigInt, or texts such as "0x1f" or "-0x1f"
    const n = X.length, d = n ? X[0].length : 0, values = new Float64Array(n * d), wide = new Map();
    X.forEach((row, k) => {
      need(Array.isArray(row) && row.length === d, "X is no matrix of numbers");
      row.forEach((x, j) => {
        let v = x;
        if (/^-?0x[0-9a-f]{1,16}$/.test(v)) v = v[0] === "-" ? -BigInt(v.slice(1)) : BigInt(v);
        need(typeof v === "number" || typeof v === "bigint", "X is no matrix of numbers of at most 64 bits");
        values[k * d + j] = Number(v);
        if (typeof v === "bigint" && BigInt(values[k * d + j]) !== v) wide.set(k * d + j, v);
      });
    });
    return {n, d, values, wide};
  };

  const inOrder = (a, b) => { // of labels: texts by their characters
    if (typeof a !== "string") return a < b ? -1 : a > b ? 1 : 0;
    const [p, q] = [[...a], [...b]];
    const k = p.findIndex((sign, i) => sign !== q[i]);
    return k < 0 || k >= q.length ? p.length - q.length : p[k].codePointAt(0) - q[k].codePointAt(0);
  };
  const same = (a, b) => (typeof a === "string" || typeof b === "string" ? a === b : a !== null && b !== null
    && typeof a !== "object" && typeof b !== "object" && Number(a) === Number(b));

  class Patterns { // those that take part: in floats, all divided by 2^unit so that none exceeds 1, or in fractions
    constructor(X, y, claim, weight) {
      const known = new Set([...CLAIMS, ...Object.keys(DEFAULT), ...VECTORS]);
      need(claim instanceof Map && [...claim.keys()].every((k) => known.has(k)), "the certificate has unknown fields");
      Object.assign(this, {claim, left: 0, d: X.d, values: X.values, wide: X.wide ?? new Map(), cache: new Map()});
      need(X.values.every(Number.isFinite), "X is not finite");
      const labelled = y.length === X.n && y.every((v) => v === v && v !== null && typeof v === typeof y[0]);
      need(labelled, `y does not hold ${X.n} labels`);
      const given = weight ?? claim.get("sample_weight") ?? null;
      this.weight = given === null ? new Float64Array(X.n).fill(1) : vector(given, X.n, "sample_weight", 0);
      const field = (name) => (claim.has(name) ? claim.get(name) : DEFAULT[name]);
      const lengths = vector(["rho", "delta", "hinge"].map(field), 3, "rho, delta or hinge", 0);
      [this.rho, this.delta, this.hinge] = lengths;
      need(!(this.hinge && this.delta), "slack is either plain or squared");
      const switches = ["free", "weighted", "fixed_length", "l1"].map(field);
      need(switches.every((v) => typeof v === "boolean"), "free, weighted, fixed_length or l1 is neither true nor false");
      [this.free, , this.fixed, this.l1] = switches;
      const signs = field("signs"), plainSigns = typeof signs === "string" && /^[-+0]*$/.test(signs);
      const two = field("n_classes") === 2n;
      const fitting = plainSigns && (!signs.length || (signs.length === X.d && two));
      need(fitting, "signs are one of + - 0 for each column, of two classes");
      const l1Fits = two && signs === "" && (this.hinge || (this.delta && this.fixed));
      need(!this.l1 || l1Fits, "an l1 penalty has two classes, no signs, and the loss of the direction as it is");
      this.sign = (j) => ({"+": 1, "-": -1}[signs[j]] ?? 0);
      this.price = switches[1] ? this.weight : new Float64Array(X.n).fill(1); // delta_k^2 = delta^2 / price
      const labels = [...new Set(y)].sort(inOrder), place = new Map(labels.map((label, i) => [label, i]));
      const code = Int32Array.from(y, (label) => place.get(label)), pair = field("class_pair"), c = field("n_classes");
      const part = Array.from(this.weight, (w) => w > 0);
      if (pair !== null) {
        const listed = (label) => Array.isArray(pair) && pair.some((p) => same(p, label));
        const named = [...labels.keys()].filter((i) => listed(labels[i]));
        need(named.length === 2 && pair.length === 2, "between does not name two of the labels");
        part.forEach((_, k) => { part[k] &&= named.includes(code[k]); });
      }
      const kept = [...part.keys()].filter((k) => part[k]);
      const present = [...new Set(kept.map((k) => code[k]))].sort((a, b) => a - b);
      const fits = typeof c === "bigint" && c === BigInt(present.length) && c >= 2n && !(this.free && c > 2n);
      need(fits, `it is about ${c} classes, the rows that take part have ${present.length}; or a bias is free`);
      this.rivals = Number(c) - 1;
      need(kept.length * (this.rivals + 1) < MOST_PATTERNS, `more than ${MOST_PATTERNS} patterns are refused`);
      Object.assign(this, {part, kept, rows: [X.n, kept.length], code: code.map((i) => present.indexOf(i))});
      this.all = new Float64Array(kept.length * this.rivals);
      this.all.forEach((_, p) => { this.all[p] = kept[this.row(p)] * this.rivals + (p % this.rivals); });
      this.width = (this.d + 1) * (c > 2n ? Number(c) : 1);
      this.unit = exponent(Math.max(largest(X.values), this.rho));
      this.terms = (this.d + 1) * Math.min(this.rivals, 2); // of a pattern
      this.step = Math.max(1, Math.min(1024, Math.floor(2 ** 22 / this.terms))); // summed before they enter a total
      this.floats = this.values.map((x) => ldexp(x, -this.unit));
    }
    row(p) { return Math.floor(p / this.rivals); }
    count(values) {
      this.left -= values;
      need(this.left >= 0, "floats leave too many values in doubt to go through them in fractions", null);
    }
    exactly(v) { this.count(v.length); return Array.from(v, Q.of); }
    entries(p, values, rho, visit) { // the value and the column of each entry of a pattern
      const k = this.row(p), r = p - k * this.rivals, i = this.code[k], start = k * this.d, d = this.d;
      const plus = this.rivals === 1 ? 0 : (d + 1) * i, minus = (d + 1) * (r + (r >= i));
      if (this.rivals > 1 || i) {
        for (let j = 0; j < d; j++) visit(values(start + j), plus + j);
        visit(rho, plus + d);
      }
      if (this.rivals === 1 && i) return;
      const shift = this.rivals === 1 ? 0 : minus;
      for (let j = 0; j < d; j++) visit(values(start + j), shift + j, true);
      visit(rho, shift + d, true);
    }
    // Between which numbers lie w.y of every pattern, without a w -|y|^2; or not across: all of sum w_k y_k.
    // The bound on rounding errors is proved in checker.py.
    sums(patterns, w, across = true) {
      const size = across ? patterns.length : this.width, m = new Float64Array(size), A = new Float64Array(size);
      const rho = ldexp(this.rho, -this.unit), {floats, free, d} = this, value = (at) => floats[at];
      const inner = new Float64Array(across ? 0 : size), outer = new Float64Array(across ? 0 : size);
      for (let first = 0; first < patterns.length; first += this.step) {
        inner.fill(0);
        outer.fill(0);
        for (let i = first; i < Math.min(first + this.step, patterns.length); i++) {
          if (across) {
            let sum = 0, sizes = 0;
            this.entries(patterns[i], value, rho, (x, column, negative) => {
              const v = negative ? -x : x, term = w === null ? v * (free && column === d ? -0 : -v) : v * w[column];
              sum += term;
              sizes += Math.abs(term);
            });
            m[i] = sum;
            A[i] = sizes;
          } else {
            this.entries(patterns[i], value, rho, (x, column, negative) => {
              const term = (negative ? -x : x) * w[i];
              inner[column] += term;
              outer[column] += Math.abs(term);
            });
          }
        }
        if (!across) for (let j = 0; j < size; j++) { m[j] += inner[j]; A[j] += outer[j]; }
      }
      if (w === null && this.delta) {
        const delta = ldexp(this.delta, -this.unit);
        patterns.forEach((p, i) => {
          const price = this.price[this.row(p)], own = (delta * delta) / (price > 2 ** -300 ? price : NaN);
          m[i] -= own;
          A[i] += own;
        });
      }
      const n = across ? this.terms : patterns.length, depth = across ? this.terms : this.step + n / this.step;
      const factor = (depth + 16) * EPS, rest = w === null ? 2 ** -700 : n * TINY;
      const error = A.map((a) => factor * a + rest);
      return [m.map((x, i) => x - error[i]), m.map((x, i) => x + error[i])];
    }
    exactSums(patterns, w, across = true) {
      this.count(patterns.length * (this.d + 1));
      const m = new Array(across ? patterns.length : this.width).fill(ZERO), rho = Q.of(this.rho);
      const value = (at) => Q.of(this.wide.get(at) ?? this.values[at]);
      patterns.forEach((p, i) => {
        this.entries(p, value, rho, (x, column, negative) => {
          const v = negative ? x.neg() : x, place = across ? i : column;
          if (w === null && this.free && column === this.d) return;
          m[place] = m[place].add(v.mul(w === null ? v.neg() : w[across ? column : i]));
        });
      });
      if (w === null && this.delta) {
        const own = square(Q.of(this.delta));
        const price = this.exactly(Array.from(patterns, (p) => this.price[this.row(p)]));
        price.forEach((c, i) => { m[i] = m[i].sub(own.div(c)); });
      }
      return m;
    }
    outside(low, high, negative, most, zero) { // at least the sizes of the entries of P v, v between low and high
      return Array.from(low, (x, j) => {
        const s = this.sign(j);
        return most(most(s < 0 ? zero : high[j], s > 0 ? zero : negative(x)), zero);
      });
    }
    outsideExactly(v) { return this.outside(v, v, (x) => x.neg(), larger, ZERO); }
    number(name, from = -MAX) { return Q.of(vector([this.claim.get(name)], 1, name, from)[0]); }
    near(name, sign = 1) { // patterns, a vector of the claim or null, the exponent of the unit of the sums, and these
      if (!this.cache.has(name + sign)) {
        const patterns = name ? this.all : this.all.filter((_, i) => i % this.rivals === 0);
        const a = name ? vector(this.claim.get(name), this.width, name).map((x) => sign * x) : null;
        const fine = !["direction", "weak"].includes(name) || a.every((x, j) => this.sign(j) * sign * x >= 0);
        need(fine, `${name} does not have the signs`);
        const [w, u] = a === null ? [null, this.unit] : scaled(a);
        this.cache.set(name + sign, [patterns, a, this.unit + u, ...this.sums(patterns, w)]);
      }
      return this.cache.get(name + sign);
    }
    // holds of the smallest a.y or -|y|^2: false up to some number, true from there on. Where it is the same at both
    // ends of the range that is the answer; otherwise those that may be the smallest are computed exactly.
    decide(holds, name = "", sign = 1) {
      const [patterns, a, unit, low, high] = this.near(name, sign), ends = [smallest(low), smallest(high)];
      const answers = ends.every(Number.isFinite) ? ends.map((end) => holds(Q.of(end).shift(unit))) : [false, true];
      if (answers[0] === answers[1]) return answers[0];
      const w = a === null ? null : this.exactly(a);
      return holds(least(this.exactSums(patterns.filter((_, i) => !(low[i] > ends[1])), w)));
    }
    lower() {
      const t = this.number("lower"), a = this.near("direction")[1];
      const paid = (x) => (this.l1 ? Q.of(x).abs().shift(1) : square(Q.of(x)));
      const length = sumOf(Array.from(this.free ? a.slice(0, -1) : a, paid));
      if (this.hinge || this.delta) {
        return t.sign() <= 0 || (this.hinge || this.fixed ? this.asItIs(t, length) : this.objective(t, length));
      }
      if (!length.sign()) return t.sign() < 0 && this.decide((s) => s.neg().most(square(t)));
      const s = square(t).mul(length);
      const reached = (m) => (m.sign() >= 0 ? t.sign() < 0 || s.most(square(m)) : t.sign() < 0 && square(m).most(s));
      return this.decide(reached, "direction");
    }
    // Is t^2 J <= 1 for some v >= 0? By Newton's steps on J', which is piecewise linear and concave where v >= 0: from
    // the left of its zero they grow towards it, and in fractions they reach it.
    objective(t, length) {
      const [, a, unit, m] = this.near("direction"), price = Array.from(this.all, (p) => this.price[this.row(p)]);
      const exact = [square(t).mul(length), square(t.div(Q.of(this.delta)))];
      const [L, q] = [exact[0].shift(-2 * unit), exact[1]].map((x) => x.above());
      const factor = price.map((c) => up(q * c));
      let v = 0;
      for (let i = 0; i < 100; i++) {
        const slack = Array.from(m, (x) => Math.max(up(1 + up(-v * x)), 0));
        if (up(total(slack.map((s, k) => up(factor[k] * up(s * s)))) + up(L * up(v * v))) <= 1) return true;
        const slope = L * v - slack.reduce((sum, s, k) => sum + factor[k] * m[k] * s, 0);
        const curve = L + slack.reduce((sum, s, k) => sum + (s > 0 ? factor[k] * m[k] * m[k] : 0), 0);
        const step = curve ? Math.max(v - slope / curve, 0) : v;
        if (step === v || !(step < INF)) break;
        v = step;
      }
      const margins = this.exactSums(this.all, this.exactly(a));
      const weight = this.exactly(price).map((c) => c.mul(exact[1]));
      let w = Q.of(v).shift(-unit), step = w;
      for (let i = 0; i < 20; i++) {
        const slack = margins.map((x) => larger(ONE.sub(w.mul(x)), ZERO));
        const each = (term) => sumOf(slack.map((s, k) => (s.sign() > 0 ? weight[k].mul(term(s, margins[k])) : ZERO)));
        if (each(square).add(exact[0].mul(square(w))).most(ONE)) return true;
        const slope = exact[0].mul(w).sub(each((s, margin) => s.mul(margin)));
        const curve = exact[0].add(each((s, margin) => square(margin)));
        step = curve.sign() ? larger(w.sub(slope.div(curve)), ZERO) : w;
        if (!step.sub(w).sign()) return false; // the minimum, exactly
        w = step;
      }
      throw new Stop("no end was found of Newton's steps", null);
    }
    // Is t^2 J <= 1 of the vector as it is? Plain slack is one for each row, whose patterns follow in `all`.
    asItIs(t, length) {
      const [, a, unit, m] = this.near("direction"), k = this.hinge ? this.rivals : 1, rows = this.all.length / k;
      const price = Array.from({length: rows}, (_, i) => this.price[this.row(this.all[i * k])]);
      const C2 = this.hinge ? Q.of(this.hinge).shift(1) : ONE.div(square(Q.of(this.delta)));
      const enough = (paid) => square(t).mul(length.add(C2.mul(paid))).most(ONE), one = asFloat(unit);
      const paid = total(price.map((c, i) => {
        const slack = Math.max(up(1 + up(-smallest(m.subarray(i * k, i * k + k)) * one)), 0);
        return up(c * (this.hinge ? slack : up(slack * slack)));
      }));
      if (paid < INF && enough(Q.of(paid))) return true;
      const margins = this.exactSums(this.all, this.exactly(a)), exact = this.exactly(price);
      return enough(sumOf(exact.map((c, i) => {
        const slack = larger(ONE.sub(least(margins.slice(i * k, i * k + k))), ZERO);
        return c.mul(this.hinge ? slack : square(slack));
      })));
    }
    index() { // the patterns of the multipliers: distinct ones of those that take part
      const last = this.all[this.all.length - 1];
      const fine = (i) => typeof i === "bigint" && i >= 0n && i <= last;
      const index = list(this.claim.get("alpha_index"), "alpha_index", fine).map(Number);
      const fits = new Set(index).size === index.length && index.every((p) => this.part[this.row(p)]);
      need(fits, "alpha_index does not hold distinct patterns that take part");
      return index;
    }
    multipliers() {
      if ((this.claim.get("slack_vector") ?? null) === null) {
        const patterns = this.index();
        return [patterns, vector(this.claim.get("alpha"), patterns.length, "alpha", 0)];
      }
      need(!this.hinge && !this.l1, "a hinge takes multipliers as they are, slack_vector gives them up to a factor");
      const [patterns, a, , low, high] = this.near("slack_vector");
      const shift = this.unit + scaled(a)[1], w = scaled(this.weight)[0];
      const slack = low.map((x, i) => 1 - ldexp((x + high[i]) / 2, shift));
      return [Array.from(patterns), slack.map((s, i) => w[this.row(patterns[i])] * Math.max(s, 0))];
    }
    upper() { // |sum alpha y| + R |sum alpha l| <= upper sum alpha, R = max |y|; checker.py says why, and of a hinge
      const most = this.number("upper", 0), [patterns, alpha] = this.multipliers();
      const rows = patterns.map((p) => this.row(p));
      need(largest(alpha) > 0 && largest(alpha) < INF, "the multipliers are 0 or not finite");
      if (this.hinge && this.exceeds(rows, alpha)) return false;
      const prices = rows.map((k) => this.price[k]);
      const judge = (length, own, mass, out, u, unit) => {
        const R = this.free ? Q.of(up(Math.sqrt(this.below()))).shift(this.unit) : ZERO;
        if (this.l1) {
          if (own === null || length === null) return false;
          const M = larger(ONE, length.shift(unit + u)), e = out.shift(u);
          const paid = square(Q.of(this.delta)).mul(own.shift(2 * u));
          const value = M.mul(mass.shift(u).sub(e)).shift(1).sub(paid);
          return square(M).add(M.mul(e).mul(R)).most(square(most).mul(value));
        }
        if (this.hinge) {
          const value = mass.shift(1).sub(length.shift(2 * unit + u)), more = out.shift(1).mul(most.mul(most.add(R)));
          return ONE.shift(-u).add(more).most(square(most).mul(value));
        }
        const right = most.mul(mass).sub(R.mul(out));
        if (right.sign() < 0 || own === null) return false;
        return length.shift(2 * unit).add(square(Q.of(this.delta)).mul(own)).most(square(right));
      };
      const [a, u] = scaled(alpha), labels = patterns.map((p, i) => 2 * this.code[rows[i]] - 1);
      const inside = (v) => (this.free ? v.slice(0, -1) : v);
      const [low, high] = this.sums(patterns, a, false);
      const size = this.outside(low, high, (x) => -x, Math.max, 0);
      const paid = this.delta ? total(a.map((x, i) => up(up(x * x) / prices[i]))) : 0;
      const signed = a.map((x, i) => x * labels[i]);
      const out = this.free ? Q.of(Math.max(total(signed), total(signed.map((x) => -x)))) : ZERO;
      const mass = Q.of(total(a.map((x) => -x))).neg();
      const peak = this.l1 ? largest(inside(size)) : total(inside(size).map((x) => up(x * x)));
      const length = this.l1 && !(peak < INF) ? null : Q.of(peak);
      if (judge(length, paid < INF ? Q.of(paid) : null, mass, out, u, this.unit)) return true;
      const exact = this.exactly(alpha), cost = this.exactly(prices);
      const sums = this.exactSums(patterns, exact, false), v = inside(this.outsideExactly(sums));
      const own = this.delta ? sumOf(exact.map((x, i) => square(x).div(cost[i]))) : ZERO;
      const bias = this.free ? sumOf(exact.map((x, i) => (labels[i] > 0 ? x : x.neg()))).abs() : ZERO;
      return judge(this.l1 ? v.reduce(larger, ZERO) : sumOf(v.map(square)), own, sumOf(exact), bias, 0, 0);
    }
    below() { return -smallest(this.near("")[3]); } // |y|^2 of every pattern is at most this, in units
    exceeds(rows, alpha) { // whether the multipliers of some row sum to more than C times its price
      const groups = new Map();
      rows.forEach((k, i) => { if (!groups.has(k)) groups.set(k, []); groups.get(k).push(i); });
      return [...groups.keys()].sort((a, b) => a - b).some((k) => {
        const c = this.price[k], group = groups.get(k), sum = group.reduce((s, i) => s + alpha[i], 0);
        const plain = c === 1 && this.rivals === 1;
        if (plain ? sum <= this.hinge : sum < this.hinge * c * (1 - 4 * this.rivals * EPS)) return false;
        return Q.of(this.hinge).mul(Q.of(c)).less(sumOf(this.exactly(group.map((i) => alpha[i]))));
      });
    }
    separable() {
      const claimed = this.claim.get("separable");
      if (claimed === true) return this.decide((m) => m.sign() > 0, "direction");
      need(claimed === false, "it is neither true nor false");
      const patterns = this.index(), exact = this.claim.get("alpha_exact") ?? null;
      this.left *= 4;
      const hex = (g) => typeof g === "string" && g.startsWith("0x");
      const whole = (g) => new Q(BigInt(/^0x(_?[0-9a-f])+$/i.test(g) ? g.replaceAll("_", "") : "none")); // as Python's int
      const texts = exact === null ? null : list(exact, "alpha_exact", hex, patterns.length);
      const alpha = texts ? [] : vector(this.claim.get("alpha"), patterns.length, "alpha", 0);
      const weight = texts ? texts.map(whole) : this.exactly(alpha);
      need(weight.some((w) => w.sign() > 0), "the multipliers are 0");
      const v = this.outsideExactly(this.exactSums(patterns, weight, false)), some = v.some((x) => x.sign() !== 0);
      const bound = Q.of(this.below()).shift(2 * this.unit - 40).mul(square(sumOf(weight)));
      const nearly = some && !texts && sumOf(v.map(square)).most(bound);
      need(!nearly, "alpha is rounded and combines the patterns to nearly 0: alpha_exact is wanted", null);
      return !some;
    }
    weak() { return this.decide((m) => m.sign() >= 0, "weak") && !this.decide((m) => m.sign() >= 0, "weak", -1); }
    radius() {
      const r = this.number("radius", 0), slip = larger(r.div(Q.of(10n ** 12n)), new Q(3n, -1076));
      const inner = larger(r.sub(slip), ZERO);
      return this.decide((s) => s.neg().most(square(r.add(slip)))) && !this.decide((s) => s.neg().less(square(inner)));
    }
  }

  // Which claims were checked, failed, or are beyond the limits ("unchecked"); what else has to be known ("notes").
  // The certificate holds if something was checked, nothing failed and nothing is unchecked.
  const check = (X, y, claim, weight = null, allRows = false) => {
    const found = {checked: [], failed: [], unchecked: [], notes: []};
    let patterns;
    try {
      patterns = new Patterns(X, y, claim, weight);
    } catch (error) {
      found.failed.push(`refused: ${error.message}`);
      return found;
    }
    const [n, kept] = patterns.rows;
    if (kept < n) {
      const note = `${n - kept} of ${n} rows have weight 0 or other labels and take no part`;
      found[allRows ? "failed" : "notes"].push(note);
    }
    for (const name of CLAIMS.filter((name) => (claim.get(name) ?? null) !== null)) {
      patterns.left = MOST_EXACT;
      let holds = null, why = "its numbers are too far apart";
      try {
        [holds, why] = [patterns[name](), ""];
      } catch (error) {
        if (error instanceof Stop) [holds, why] = [error.verdict, error.message];
        else if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
      }
      const value = claim.get(name), what = ["boolean", "number"].includes(typeof value) ? String(value) : typeof value;
      found[holds === null ? "unchecked" : holds ? "checked" : "failed"].push(`${name} (${what}${why && ": " + why})`);
    }
    return found;
  };
  const holds = (found) => found.checked.length > 0 && !found.failed.length && !found.unchecked.length;

  const main = (files, fs) => {
    const usage = "run: node checker.js data.json certificate.json [all]";
    need([2, 3].includes(files.length) && (files[2] ?? "all") === "all", usage);
    const [data, claims] = files.slice(0, 2).map((name) => parse(fs.readFileSync(name, "utf8")));
    const fields = data instanceof Map ? [...data.keys()] : [null];
    need(fields.every((name) => ["X", "y", "sample_weight"].includes(name)), "data.json has unknown fields");
    const X = matrix(list(data.get("X"), "X", Array.isArray)), y = list(data.get("y"), "y", () => true);
    const several = Array.isArray(claims) ? claims : [claims];
    const found = several.map((claim) => check(X, y, claim, data.get("sample_weight") ?? null, files.length === 3));
    return [found, found.length > 0 && found.every(holds)];
  };
  return {check, holds, main, matrix, parse};
})();

if (typeof module === "object" && module.exports) {
  module.exports = separatrixChecker;
  if (require.main === module) {
    try {
      const [found, fine] = separatrixChecker.main(process.argv.slice(2), require("fs"));
      console.log(JSON.stringify(found, null, 2));
      process.exitCode = fine ? 0 : 1;
    } catch (error) {
      console.error(`refused: ${error.message}`);
      process.exitCode = 1;
    }
  }
}
