/** The reference of the API: what `deno doc` makes of the doors of both packages, and a page of their modules. */

import { join } from "node:path";
import manifest from "../deno.json" with { type: "json" };
import documents from "../packages/documents/deno.json" with { type: "json" };
import project from "../project.json" with { type: "json" };
import { ErrorCode } from "../src/protocol/error_codes.ts";
import { FarewellCode } from "../src/protocol/farewell.ts";
import { addressOf } from "./pages.ts";
import { type SitePage, toPage } from "./read.ts";

/** A package, and what programs import of it; its other exports are programs, or for our own packages. */
interface Package {
  readonly name: string;
  /** Below `api/`. */
  readonly folder: string;
  readonly modules: readonly { readonly name: string; readonly file: string }[];
}

const DOORS = ["agent", "group", "toolkits", "computer", "provider", "server", "gateway"] as const;

const PACKAGES: readonly Package[] = [
  {
    name: manifest.name,
    folder: "sdk",
    modules: [
      { name: "", file: manifest.exports["."] },
      ...DOORS.map((name) => ({ name, file: manifest.exports[`./${name}`] })),
    ],
  },
  {
    name: documents.name,
    folder: "documents",
    modules: [{ name: "", file: join("packages", "documents", documents.exports["."]) }],
  },
];

/** A symbol as the search of `deno doc` lists it. */
interface Symbol {
  readonly name: string;
  readonly file: string;
  readonly url: string;
  readonly kind: readonly { readonly title: string }[];
}

/** A symbol or a member of one, as the search of the site finds it. */
export interface SymbolHit {
  /** Such as `Agent.close`. */
  readonly title: string;
  /** Below the site's root. */
  readonly url: string;
  /** What it is, and of which module. */
  readonly text: string;
}

/** What `deno doc` has for its search, hundreds of kilobytes on each page: the site's own finds these symbols, too. */
const OWN_SEARCH = ["all_symbols.html", "search_index.js", "search.js", "fuse.js"];

/** Members that `deno doc` shows although they are marked as internal, and their anchors. */
const INTERNAL = new Map([["Agent.connectBy", "method_connectby_0"]]);

/** What the properties of tables are, which `deno doc` shows as `number` and `string`. */
const VALUES = new Map(
  Object.entries({ ErrorCode, FarewellCode }).flatMap(([table, values]) =>
    Object.entries(values).map(([name, value]) => [`${table}.${name}`, JSON.stringify(value)])
  ),
);

function specifierOf(library: Package, name: string): string {
  return name === "" || name === "." ? library.name : `${library.name}/${name}`;
}

/** The page of all modules, with a sentence of each. */
export async function readModules(root: string): Promise<SitePage> {
  const modules = PACKAGES.flatMap((library) => library.modules.map((module) => ({ library, ...module })));
  const lines = await Promise.all(modules.map(async ({ library, name, file }) => {
    const text = await Deno.readTextFile(join(root, file));
    const address = `${library.folder}/${name === "" ? "" : `${name}/`}`;
    return `| [\`${specifierOf(library, name)}\`](${project.homepage}api/${address}) | ${firstSentence(text)} |`;
  }));
  const text = [
    "# API reference\n",
    "The modules of the library and of the documents, made from the comments in the source. The search of this site finds their symbols.\n",
    "| module | what it has |\n| --- | --- |",
    ...lines,
    "\n[Install and import](install.md#the-library-in-deno) says how to import them in Deno, Node and a browser.",
  ].join("\n");
  const page = toPage(text, { source: "docs/api.md", address: "api/" });
  return { ...page, html: page.html.replaceAll(`${project.homepage}api/`, "") };
}

/** The first sentence of the comment of a module, or the one that begins with "This module". */
function firstSentence(source: string): string {
  const [comment = ""] = /(?<=\n \* )This module[^]*?(?=\n \*\s*\n)/.exec(source) ??
    /(?<=\/\*\*)[^]*?(?=\n \*\s*\n|\*\/)/.exec(source) ?? [];
  const text = comment.replaceAll(/\n \* ?/g, " ").replaceAll(/\{@link(?:code)? (\w+)\}/g, "`$1`").trim();
  return /^[^]*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}

/** Writes the reference below `api/` of the folder of the site, and gives what the search finds of it. */
export async function buildReference(root: string, folder: string): Promise<SymbolHit[]> {
  const hits: SymbolHit[] = [];
  for (const library of PACKAGES) hits.push(...await buildPackage(library, { root, folder }));
  return hits;
}

async function buildPackage(
  library: Package,
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<SymbolHit[]> {
  const output = join(folder, "api", library.folder);
  const doors = library.modules.map(({ file }) => join(root, file));
  const args = ["doc", "--html", `--name=${library.name}`, `--output=${output}`, ...doors];
  const { success, stderr } = await new Deno.Command("deno", { args, cwd: root }).output();
  if (!success) throw new TypeError(`Cannot make the reference: ${new TextDecoder().decode(stderr)}`);
  const symbols = (await readSymbols(output)).filter(({ name }) => !INTERNAL.has(name));
  for (const name of OWN_SEARCH) await Deno.remove(join(output, name));
  await mendPages(output, { library, root, depth: 0 });
  await listSymbols(
    join(output, "index.html"),
    symbols.filter(({ file, name }) => file === "." && !name.includes(".")),
  );
  const style = join(output, "page.css");
  await Deno.writeTextFile(style, await Deno.readTextFile(style) + STYLE);
  return symbols.map((symbol) => toHit(library, symbol));
}

async function readSymbols(output: string): Promise<Symbol[]> {
  const text = await Deno.readTextFile(join(output, "search_index.js"));
  return JSON.parse(text.slice(text.indexOf("= {") + 2, text.lastIndexOf("};") + 1)).nodes;
}

/** Gives each page its way back, the names of modules as one imports them, and sources at the repository. */
async function mendPages(
  folder: string,
  { library, root, depth }: { readonly library: Package; readonly root: string; readonly depth: number },
): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await mendPages(path, { library, root, depth: depth + 1 });
    else if (INTERNAL.has(name.replace(/\.html$/, ""))) await Deno.remove(path);
    else if (name.endsWith(".html")) {
      await Deno.writeTextFile(path, mendPage(await Deno.readTextFile(path), { library, root, depth, name }));
    }
  }
}

const slash = "&#x2F;";
const ownSearch =
  /<script src="[^"]*(?:search_index|search|fuse)\.js" defer><\/script>|<div id="searchResults"><\/div>/g;
/** The first five symbols of the first module, on the page of each. */
const topSymbols = /<nav class="topSymbols">[^]*?<\/nav>/g;
const escapeSlashes = (text: string) => text.replaceAll("/", slash);
/** How `deno doc` imports a module in its examples. */
const usage = new RegExp(`from &quot;(\\.|${DOORS.join("|")})&quot;`, "g");

function mendPage(
  html: string,
  { library, root, depth, name }: {
    readonly library: Package;
    readonly root: string;
    readonly depth: number;
    readonly name: string;
  },
): string {
  const up = "../".repeat(depth + 1);
  const search = `<a href="${up}../#query" class="contextLink">Search</a>`;
  const back = `<a href="${up}../" class="contextLink">Documentation</a></li><li>` +
    `<a href="${up}" class="contextLink">API</a></li><li>`;
  return withValues(withoutInternal(html), name).replace(
    '<ul class="breadcrumbs">\n  <li>',
    `<ul class="breadcrumbs">\n  <li>${back}`,
  )
    .replace(/<input\s+type="text"\s+id="searchbar"[^>]*>/, search)
    .replaceAll(ownSearch, "")
    .replaceAll(topSymbols, "")
    // Some type parameters have no place to which a link could lead.
    .replaceAll(
      /<a href="#(type_param_\w+)"[^>]*>(\w+)<\/a>/g,
      (link, id, name) => html.includes(`id="${id}"`) ? link : name,
    )
    // Getters in lists of members look like methods, and parameters that are taken apart have no name.
    .replaceAll(/(#accessor_\w+">\s*<span>\w+<\/span><span>)\(\)/g, "$1")
    .replaceAll(/>arg_\d+</g, ">options<")
    .replaceAll(
      /<code>(docs\/[\w/-]+\.md)(#[\w-]+)?<\/code>/g,
      (_, source, anchor = "") =>
        `<a href="${up}../${addressOf(source)}${anchor}">${addressOf(source)}${anchor}</a>`,
    )
    .replaceAll(usage, (_, name) => `from &quot;${specifierOf(library, name)}&quot;`)
    .replaceAll(escapeSlashes(`file://${root}`), escapeSlashes(`${project.repository}/blob/main/`));
}

/** Shows the values of tables, in the list of their properties and on the page of each. */
function withValues(html: string, page: string): string {
  const type = /<span class="td-kw">(?:number|string)<\/span>/;
  const own = VALUES.get(page.replace(/\.html$/, ""));
  return (own === undefined ? html : html.replace(type, own)).replaceAll(
    new RegExp(`((\\w+\\.\\w+)\\.html">\\w+</a><span[^>]*><span>: )${type.source}`, "g"),
    (whole, before, name) => VALUES.has(name) ? before + VALUES.get(name) : whole,
  );
}

/** Removes what is about internal members: their entries, and the lines of lists that lead there. */
function withoutInternal(html: string): string {
  let shown = html;
  for (const id of INTERNAL.values()) {
    for (
      const begin of [
        new RegExp(`<(div) class="anchorable docEntry" id="${id}">`),
        new RegExp(`<(li)>\\s*<a href="[^"]*#${id}"`),
      ]
    ) {
      for (let found = begin.exec(shown); found !== null; found = begin.exec(shown)) {
        shown = shown.slice(0, found.index) +
          shown.slice(endOfElement(shown, { start: found.index, tag: found[1] ?? "" }));
      }
    }
  }
  return shown;
}

function endOfElement(
  html: string,
  { start, tag }: { readonly start: number; readonly tag: string },
): number {
  let depth = 0;
  for (const { 0: text, index } of html.slice(start).matchAll(new RegExp(`</?${tag}\\b[^>]*>`, "g"))) {
    depth += text.startsWith("</") ? -1 : 1;
    if (depth === 0) return start + index + text.length;
  }
  return html.length;
}

/** Lists the symbols of the first module on its page, as those of the others have it. */
async function listSymbols(path: string, symbols: readonly Symbol[]): Promise<void> {
  const sorted = symbols.toSorted((a, b) => a.name.localeCompare(b.name));
  const links = sorted.map(({ name, url }) => `<li><a href="${url}">${name}</a></li>`);
  const list = `<section><h2>Symbols of this module</h2><ul class="names">${
    links.join("\n")
  }</ul></section></main>`;
  const html = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, html.replace("</main>", list));
}

function toHit(library: Package, { name, file, url, kind }: Symbol): SymbolHit {
  return {
    title: name.replace(".prototype.", "."),
    url: `api/${library.folder}/${url.replace(/^(?:\.\/)+/, "")}`,
    text: `${kind.map(({ title }) => title).join(", ")} of ${specifierOf(library, file)}`,
  };
}

/** For phones, and the list of {@linkcode listSymbols}. */
const STYLE = `
.names { columns: 16rem; list-style: none; padding: 0; }
.names a { text-decoration: underline; }
section:has(> .names) h2 { font-size: 1.4rem; font-weight: 700; margin-top: 2rem; }
.ddoc .breadcrumbs > li:first-child, .ddoc .breadcrumbs li { font-size: 1rem; font-weight: 400; }
.breadcrumbs > li + li::before { content: "›"; padding: 0 .4rem; }
@media (max-width: 48rem) {
  .ddoc > *, .ddoc main, #content, #content > * { min-width: 0; max-width: 100%; }
  #topnav, #topnav > div { height: auto; flex-wrap: wrap; gap: .5rem; }
  .ddoc pre, .ddoc table { overflow-x: auto; max-width: 100%; }
  .ddoc code, .ddoc .docEntryHeader, .ddoc p, .names { overflow-wrap: anywhere; }
}
`;
