// Guides answer questions; generated pages and logs only mention words. Read by Sphinx's search (html_search_scorer).
const factors = [
  [/^(start|how-to)\//, 3],
  [/^(learn\/|benchmarks|gpu|beyond-memory|reference\/(errors|capabilities|comparison|glossary|file_formats|exports))/, 2],
  [/^(gallery|study|reproductions|attacked|defaults|reference\/(changelog|items|symbols|errata|sources|command_line))/, 0.5],
];

var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    const found = factors.find(([pattern]) => pattern.test(page));
    return score * (found ? found[1] : 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
