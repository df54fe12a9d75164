// Search as one types, the list of pages beside the text where there is room, the choice of a version, and copying.

const pages = document.querySelector("#pages");
const wide = matchMedia("(min-width: 60rem)");
const showPages = () => pages.toggleAttribute("open", wide.matches);
wide.addEventListener("change", showPages);
showPages();
pages.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

document.querySelector("#version")?.addEventListener("change", ({ target }) => location.assign(target.value));

for (const block of document.querySelectorAll("main pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.innerText.trimEnd();
    // A remark behind a command would be arguments of it in zsh, as macOS has it.
    const isShell = block.querySelector(".language-sh") !== null;
    await navigator.clipboard.writeText(isShell ? text.replace(/[ \t]+# .*$/gm, "") : text);
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
const query = document.querySelector("#query");
const hits = document.querySelector("#hits");
let engine;

query.addEventListener("focus", () => {
  engine ??= import(new URL(`${query.dataset.root}pagefind/pagefind.js`, location.href));
}, { once: true });

// Pages of the API lead here.
if (location.hash === "#query") query.focus();

query.addEventListener("input", async () => {
  const text = query.value.trim();
  // Loads the part of the index, and ends here if more was typed meanwhile.
  if (await (await engine).debouncedSearch(text, {}, 150) === null) return;
  const found = text === "" ? [] : await find(text);
  if (query.value.trim() !== text) return;
  hits.replaceChildren(...found.map(toHit));
  if (found.length === 0 && text !== "") hits.append(toLine("No page has these words"));
});

/** The pages of a text: of its error code, then of a message that it quotes, then of its words. */
async function find(text) {
  const { search } = await engine;
  const found = new Map();
  const add = async (words, filters, most = MOST_HITS) => {
    const { results } = await search(words, { filters });
    const pages = await Promise.all(results.slice(0, MOST_HITS).map((result) => result.data()));
    if (words?.startsWith('"')) pages.sort((a, b) => isAnswers(b) - isAnswers(a));
    for (const page of pages.slice(0, most)) {
      if (!found.has(page.url)) found.set(page.url, page);
    }
  };
  const symbols = await findSymbols(text);
  for (const symbol of symbols.filter(({ meta }) => meta.title === text)) found.set(symbol.url, symbol);
  const docs = { kind: "docs" };
  const parts = partsOf(text);
  for (const [, code] of text.matchAll(/(?:^|\(|\bcode )(\d{3,4})(?:$|\))/g)) await add(null, { code });
  if (text.includes(" ")) { for (const part of parts) await add(`"${part}"`, docs, FEW_HITS); }
  await add(text, docs);
  for (const part of parts) if (found.size < FEW_HITS) await add(part, docs, FEW_HITS);
  const words = parts.join(" ").split(" ");
  for (const word of words.length > 2 ? words : []) {
    if (found.size === 0) await add(words.filter((other) => other !== word).join(" "), docs, FEW_HITS);
  }
  const most = [...found.values()].slice(0, MOST_HITS);
  return [...most, ...symbols.filter(({ url }) => !found.has(url))];
}

/** Symbols of the API that have this name, or one that begins with it. */
async function findSymbols(text) {
  if (text.includes(" ")) return [];
  const { results } = await (await engine).search(text, { filters: { kind: "api" } });
  const symbols = await Promise.all(results.slice(0, 40).map((result) => result.data()));
  const lastName = ({ meta }) => meta.title.split(".").at(-1).toLowerCase();
  const named = symbols.filter((symbol) => lastName(symbol).startsWith(text.toLowerCase()));
  return named.sort((a, b) => lastName(a).length - lastName(b).length).slice(0, FEW_HITS);
}

const isAnswers = ({ url }) => url.endsWith("/troubleshooting/");

/** What differs from one message to the next: quoted names, addresses, and words with numbers. */
const VARIABLE = /"[^"]*"|'[^' ]*'|“[^”]*”|`[^`]*`|[a-z]+:\/\/\S+|\S*\d\S*/gi;

/** The fixed words of a message, the longest part first. */
function partsOf(text) {
  return text.replace(VARIABLE, "|").split(/[|;:,()…?!"]+/).map((part) => part.replace(/[.\s]+/g, " ").trim())
    .filter((part) => part.includes(" ") || part === text).sort((a, b) => b.length - a.length).slice(0, 4);
}

function toHit({ url, meta, excerpt, sub_results: parts }) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  const best = parts[0];
  link.href = best?.url ?? url;
  link.textContent = best === undefined || best.title === meta.title
    ? meta.title
    : `${meta.title}: ${best.title}`;
  if (meta.module !== undefined) link.textContent = `${meta.title} (${meta.module})`;
  const words = document.createElement("p");
  // Pagefind marks the words in text that it has escaped.
  words.innerHTML = best?.excerpt ?? excerpt;
  line.append(link, words);
  return line;
}

function toLine(text) {
  const line = document.createElement("li");
  line.textContent = text;
  return line;
}

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
