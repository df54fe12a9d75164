// Search as one types, the list of pages beside the text where there is room, the choice of a version, and copying.

// A list stands open where there is room beside the text.
const pages = document.querySelector("#site-pages");
for (const [list, room] of [[pages, "60rem"], [document.querySelector("#site-contents"), "85rem"]]) {
  const wide = matchMedia(`(min-width: ${room})`);
  const show = () => list?.toggleAttribute("open", wide.matches);
  wide.addEventListener("change", show);
  show();
}
pages.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

document.querySelector("#version")?.addEventListener("change", ({ target }) => location.assign(target.value));

// What a program prints has no language, and nobody copies it.
for (const block of document.querySelectorAll("main pre:has([class*=language-])")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.innerText.trimEnd();
    // A remark would be a command or arguments of one in zsh, as macOS has it.
    const isShell = block.querySelector(".language-sh, .language-powershell") !== null;
    await navigator.clipboard.writeText(isShell ? text.replace(/^# .*\n|[ \t]+# .*$/gm, "") : text);
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}

const MOST_HITS = 8;
const FEW_HITS = 3;
/** What people type alone, and how the texts call it. In other words, such as `server:update_desktop`, it stays. */
const OTHER_WORD = new Map([["update", "upgrade"], ["trustproxy", "trustedProxies program"], ["not_running", "4003"]]);
/** How much of the words has to be there, by their weight. */
const LEAST_FIT = .5;
/** From here on, a title is worth to be shown if nothing fits. */
const LEAST_LIKE = .3;
const query = document.querySelector("#query");
const hits = document.querySelector("#hits");
const toUrl = (path) => new URL(query.dataset.root + path, location.href);
let engine;
let titles;
let searching;

const loadEngine = () =>
  engine ??= import(toUrl("pagefind/pagefind.js")).then(async (pagefind) => {
    // A word itself before those that begin with it, and a page about the words before a long one that has them.
    await pagefind.options({ ranking: { termSimilarity: 3, termFrequency: .1 } });
    return pagefind;
  }).catch((error) => {
    engine = undefined;
    throw error;
  });

/** Without them, Pagefind alone finds pages; the next search tries again. */
const loadTitles = () =>
  titles ??= fetch(toUrl("titles.json")).then(async (response) => {
    if (!response.ok) throw new Error(`titles.json: ${response.status}`);
    const { sections, symbols } = await response.json();
    return { sections: weigh(sections), symbols };
  }).catch((error) => {
    console.warn(error);
    titles = undefined;
    return { sections: weigh([]), symbols: [] };
  });

query.addEventListener("focus", () => {
  loadEngine().catch(console.warn);
  loadTitles();
});

// Pages of the API lead here.
if (location.hash === "#query") query.focus();

query.addEventListener("input", () => searching = show(query.value.trim()).catch(console.warn));

async function show(text) {
  // Loads the part of the index, and ends here if more was typed meanwhile.
  if (await (await loadEngine()).debouncedSearch(text, {}, 150) === null) return;
  const { best, others } = text === "" ? { best: [], others: [] } : await find(OTHER_WORD.get(text.toLowerCase()) ?? text);
  if (query.value.trim() !== text) return;
  hits.replaceChildren(...best.map(toHit));
  if (best.length > 0 || text === "") return;
  hits.append(
    toLine(others.length === 0 ? "No page has these words" : "No page has all these words. Some of them:"),
  );
  hits.append(...others.map(toHit));
}

/** What a text finds: its error code and symbol, then headings and messages, then pages with its words. */
async function find(text) {
  const { search } = await loadEngine();
  const { sections, symbols } = await loadTitles();
  const best = new Map();
  const add = (hit) => best.has(hit.url) || best.set(hit.url, hit);
  const searchPages = async (words, filters) => {
    const { results } = await search(words, { filters });
    return await Promise.all(results.slice(0, MOST_HITS).map((result) => result.data()));
  };
  const symbolHits = findSymbols(text, symbols);
  symbolHits.filter(({ isExact }) => isExact).forEach(add);
  for (const [, code] of text.matchAll(/(?:^|\(|\bcode )(\d{3,4})(?:$|\))/g)) {
    (await searchPages(null, { code })).map(toPage).forEach(add);
  }
  const named = findSections(text, sections);
  named.filter(({ fit }) => fit > LEAST_FIT).forEach(add);
  // Pagefind gives pages with similar words, too.
  const hasWords = ({ content }) => wordsOf(text).every((word) => content.toLowerCase().includes(word));
  (await searchPages(largeWordsOf(text).join(" "), {})).filter(hasWords).map(toPage).forEach(add);
  const most = [...best.values()].slice(0, MOST_HITS);
  return {
    best: [...most, ...symbolHits.filter(({ url }) => !best.has(url))],
    others: named.slice(0, FEW_HITS),
  };
}

/** Symbols of the API that have this name, or one that begins with it, such as `class Agent` or `Agent.connect(`. */
function findSymbols(text, symbols) {
  // The name of a file is none of a symbol.
  if (/\.(?:json|md|toml|txt)$/.test(text)) return [];
  const [, word, call] =
    /^(?:(?:await|class|function|interface|type) +)?(\w[\w.]*)(\(.*)?$/.exec(text) ?? [];
  if (word === undefined) return findSpelledOut(text, symbols);
  // The name of a variable says nothing, such as that of `agent.callTool(`.
  const name = word.replace(".prototype.", ".").replace(/^(?:[a-z]\w*\.)+(?=\w)/, "");
  // Other words are rather searched in the texts.
  const isCode = call !== undefined || /\.|[a-z][A-Z]/.test(word);
  const wanted = name.toLowerCase();
  const nameOf = (title) => (name.includes(".") ? title : title.split(".").at(-1)).toLowerCase();
  const named = symbols.filter(({ title }) => nameOf(title).startsWith(wanted)).map((symbol) => ({
    ...symbol,
    url: toUrl(symbol.url).pathname,
    isExact: symbol.title === name || (isCode && nameOf(symbol.title) === wanted),
  }));
  const order = ({ title, isExact }) => isExact ? 0 : nameOf(title).length;
  return named.sort((a, b) => order(a) - order(b)).slice(0, FEW_HITS);
}

/** Symbols whose name has the words of a text and hardly any other, such as `callTool` for "call a tool". */
function findSpelledOut(text, symbols) {
  const asked = wordsOf(text);
  const named = symbols.filter(({ title }) => {
    const words = wordsOf(title.split(".").at(-1).replace(/(?<=[a-z])(?=[A-Z])/g, " "));
    return words.length > 1 && asked.length - words.length < 2 && words.every((word) => asked.includes(word));
  });
  return named.slice(0, FEW_HITS).map((symbol) => ({ ...symbol, url: toUrl(symbol.url).pathname, isExact: false }));
}

/** Words that say nothing about what somebody looks for. */
const SMALL_WORDS =
  /^(?:an?|all|am|and|are|as|at|be|by|can|did|do(?:es)?|for|from|has|have|how|i|if|in|is|it|its|me|my|of|on|or|our|so|that|the|their|them|there|these|they|this|to|us|was|we|what|when|where|which|who|why|will|with|your?)$/;

/** The words of a text; small words only if there are no others. */
function largeWordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const large = words.filter((word) => !SMALL_WORDS.test(word));
  return (large.length > 0 ? large : words).map((word) => OTHER_WORDS[word] ?? word);
}

/** What people type, and the word that headings have. */
const OTHER_WORDS = { __proto__: null, asleep: "sleep", embed: "library" };

/** The words of a text without their endings: `logging` is `log`. */
function wordsOf(text) {
  const stems = largeWordsOf(text).map((word) =>
    word.replace(/(?<=...)(?:ing|ed|es|s|e)$/, "").replace(/([gnpt])\1$/, "$1")
  );
  return [...new Set(stems)];
}

/** Sections with their words, and how rare a word is among them. */
function weigh(list) {
  const counts = new Map();
  const weighed = list.map((section) => {
    const words = wordsOf(section.title);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { ...section, words, around: wordsOf(`${section.page} ${section.text}`) };
  });
  const rarity = (words) =>
    words.reduce((sum, word) => sum + Math.log(list.length / (counts.get(word) ?? 1)), 0);
  return { list: weighed, rarity };
}

/** Headings that have the words of a text and messages whose words are in it, the best first. */
function findSections(typed, { list, rarity }) {
  const asked = wordsOf(typed);
  const begun = asked.at(-1);
  const scored = list.map(({ url, page, title, text, isMessage, words, around, weight }) => {
    const has = (word) =>
      words.includes(word) || (word === begun && words.some((other) => other.startsWith(word)));
    const shared = asked.filter(has);
    const near = asked.filter((word) => !has(word) && around.includes(word));
    const worth = rarity(shared) + rarity(near) / 3;
    const ofText = worth / rarity(asked);
    const ofTitle = rarity(shared) / rarity(words);
    const fit = isMessage && shared.length > 1 ? Math.max(ofText, ofTitle) : shared.length > 0 ? ofText : 0;
    const isSame = words.length === asked.length && shared.length === asked.length;
    const isSpelled = title.toLowerCase() === typed.toLowerCase();
    return {
      url: toUrl(url).pathname + toUrl(url).hash,
      title: page === "" ? title : `${page}: ${title}`,
      text,
      fit,
      score: worth * (fit + ofTitle / 2 + Number(isSame) + Number(isSpelled)) * weight ** .25,
    };
  });
  const liked = scored.filter(({ fit }) => fit > LEAST_LIKE).sort((a, b) => b.score - a.score);
  return liked.filter(({ score }) => score > liked[0].score / 2).slice(0, MOST_HITS);
}

function toPage({ url, meta, excerpt, sub_results: [best] }) {
  // Pagefind marks the words in text that it has escaped.
  if (best === undefined || best.title === meta.title) {
    return { url, title: meta.title, html: best?.excerpt ?? excerpt };
  }
  return { url: best.url, title: `${meta.title}: ${best.title}`, html: best.excerpt };
}

function toHit({ url, title, text, html }) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  link.textContent = title;
  const words = document.createElement("p");
  if (html === undefined) words.textContent = text;
  else words.innerHTML = html;
  line.append(link, words);
  return line;
}

function toLine(text) {
  const line = document.createElement("li");
  line.textContent = text;
  return line;
}

query.addEventListener("keydown", async ({ key }) => {
  if (key !== "Enter") return;
  await searching;
  hits.querySelector("a")?.click();
});

document.querySelector("search").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const stops = [query, ...hits.querySelectorAll("a")];
  stops[stops.indexOf(document.activeElement) + step]?.focus();
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement?.tagName !== "INPUT") {
    event.preventDefault();
    query.focus();
  }
  if (event.key === "Escape") {
    hits.replaceChildren();
    query.value = "";
  }
});
