// Every citation of the specification must lead to a page and a heading that exist.

import { assertEquals } from "@std/assert";

const rootUrl = new URL("../", import.meta.url);
/** Where citations and links are looked for. */
const CITING_PLACES = [
  "src/",
  "packages/",
  "tests/",
  "docs/",
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
];
const CITATION = /\bdocs\/protocol\/[\w-]+\.md(?:#[\w-]+)?/g;
const MARKDOWN_LINK = /\]\((?!\w+:)([^)\s]*)\)/g;

/** A place that is named, as a path from the root with an optional anchor. */
interface Citation {
  readonly target: string;
  /** The file that names it. */
  readonly at: string;
}

const headings = new Map<string, Promise<ReadonlySet<string> | undefined>>();

Deno.test("each cited page of the protocol exists, and has the heading that is cited", async () => {
  const citations = (await Array.fromAsync(citingFiles(), readCitations)).flat();
  const broken = await Array.fromAsync(
    citations,
    async (citation) => await exists(citation) ? [] : [citation],
  );
  assertEquals(broken.flat(), []);
});

Deno.test("anchorsOf() spells headings as GitHub does, and counts repeated ones", () => {
  const page =
    "# Level 0: catalogue\n\n## `window://` and more\n\n```sh\n# no heading\n```\n\n## Errors\n\n### Errors\n";
  assertEquals([...anchorsOf(page)], ["level-0-catalogue", "window-and-more", "errors", "errors-1"]);
});

async function* citingFiles(): AsyncGenerator<URL> {
  for (const place of CITING_PLACES) {
    const url = new URL(place, rootUrl);
    if (place.endsWith("/")) yield* textFiles(url);
    else yield url;
  }
}

async function* textFiles(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) yield* textFiles(new URL(`${entry.name}/`, folder));
    else if (/\.(?:ts|md|py)$/.test(entry.name)) yield new URL(entry.name, folder);
  }
}

async function readCitations(file: URL): Promise<Citation[]> {
  const text = await Deno.readTextFile(file);
  const at = pathOf(file);
  const cited = [...text.matchAll(CITATION)].map(([target]) => ({ target, at }));
  return file.pathname.endsWith(".md") ? [...cited, ...linksOf(text, file)] : cited;
}

/** The links to Markdown pages of this repository. */
function linksOf(text: string, file: URL): Citation[] {
  return [...withoutFences(text).matchAll(MARKDOWN_LINK)]
    .map(([, link = ""]) => ({ target: pathOf(new URL(link, file)), at: pathOf(file) }))
    .filter(({ target }) => /\.md(?:#|$)/.test(target));
}

async function exists({ target }: Citation): Promise<boolean> {
  const [page = "", anchor] = target.split("#");
  const reading = headings.get(page) ?? readAnchors(new URL(page, rootUrl));
  headings.set(page, reading);
  const anchors = await reading;
  return anchors !== undefined && (anchor === undefined || anchors.has(anchor));
}

async function readAnchors(page: URL): Promise<ReadonlySet<string> | undefined> {
  try {
    return anchorsOf(await Deno.readTextFile(page));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutFences(page).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Without fenced blocks, in which `#` begins a comment. */
function withoutFences(page: string): string {
  return page.replace(/^ *(`{3,}|~{3,})[^]*?^ *\1 *$/gm, "");
}

function pathOf(url: URL): string {
  return url.href.slice(rootUrl.href.length);
}
