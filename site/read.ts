/** Reads the Markdown of the repository as pages of the site. */

import { join, normalize } from "node:path/posix";
import MarkdownIt, { type Token } from "npm:markdown-it@15";
import project from "../project.json" with { type: "json" };
import { addressOf, addressOfCode, anchorOf, groups, type Section } from "./pages.ts";
import { nameMessages, rowOf, shapeTables, shownText } from "./tables.ts";

/** A page of the site. */
export interface SitePage {
  /** Below the root of the site, with a slash at its end; the first page has none. */
  readonly address: string;
  readonly title: string;
  /** The first paragraph as plain text. */
  readonly summary: string;
  readonly html: string;
  readonly text: string;
  readonly sections: readonly Section[];
  /** The Markdown file; missing for what is a part of one. */
  readonly source?: string;
  /** The error code that the page is about. */
  readonly code?: string;
}

const ERRORS = "docs/protocol/errors.md";
const ANSWERS = "docs/troubleshooting.md";

/** The pages of all groups, and one for each error code. */
export async function readPages(root: string): Promise<SitePage[]> {
  const sources = groups.flatMap(({ pages }) => pages);
  const pages: SitePage[] = [];
  for (const source of sources) {
    const text = await Deno.readTextFile(join(root, source));
    pages.push({ ...toPage(text, { source, address: addressOf(source) }), source });
    if (source === ERRORS) {
      pages.push(...codePages(text, await Deno.readTextFile(join(root, ANSWERS))));
    }
  }
  return pages;
}

/** The section of each code as a page of its own, so that a search for an error ends at one answer. */
function codePages(text: string, answers: string): SitePage[] {
  return text.split(/^(?=#{2,3} \d{3,4} )/m).slice(1).map((section) => {
    const [, code = "", name = ""] = /^#+ (\d+) (.+)$/m.exec(section) ?? [];
    const body = section.replace(/^#+ .+$/m, `# Error ${code}: ${name}`).replace(/\n## [^]*$/, "\n")
      .replaceAll("](#", "](errors.md#");
    const end = "All codes, and where errors appear: [Errors](errors.md).\n";
    const page = toPage(`${body}\n${messagesOf(code, answers)}${end}`, {
      source: ERRORS,
      address: addressOfCode(code),
    });
    return { ...page, code };
  });
}

/** The messages with this code, as links to their rows of Troubleshooting. */
function messagesOf(code: string, answers: string): string {
  const rows = answers.matchAll(/^\| (`([^`]+)`) .*\[(\d+)\]\([^)]*\) *\|$/gm);
  const lines = [...rows].filter((row) => row[3] === code)
    .map(([, quoted = "", message = ""]) => `- [${quoted}](../troubleshooting.md#${rowOf(message)})\n`);
  return lines.length === 0 ? "" : `Messages, and what to do:\n\n${lines.join("")}\n`;
}

/** Markdown as a page at this address; its links are read as those of the source. */
export function toPage(
  text: string,
  { source, address }: { readonly source: string; readonly address: string },
): SitePage {
  const markdown = new MarkdownIt({ html: true, linkify: false });
  markdown.renderer.rules["table_open"] = (tokens, index, options, _, self) =>
    `<div class="table">${self.renderToken(tokens, index, options)}`;
  markdown.renderer.rules["table_close"] = () => "</table></div>\n";
  const tokens = markdown.parse(text, {});
  const sections: Section[] = [];
  const seen = new Map<string, number>();
  const number = (base: string) => {
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
  tokens.forEach((token, index) => {
    if (token.type === "heading_open") {
      const title = shownText(tokens[index + 1]);
      const anchor = number(anchorOf(title));
      token.attrSet("id", anchor);
      sections.push({
        title,
        anchor,
        level: Number(token.tag.slice(1)),
        text: textAfter(tokens.slice(index + 3)),
      });
    }
    for (const child of token.children ?? []) {
      rewriteLinks(child, { source, address });
      if (isPhrase(child)) child.attrSet("class", "phrase");
    }
  });
  shapeTables(tokens);
  if (source === ANSWERS) sections.push(...nameMessages(tokens, number));
  const first = tokens.findIndex(({ type }) => type === "paragraph_open");
  const title = /^# (.+)$/m.exec(text)?.[1] ?? source;
  return {
    address,
    title: title.replaceAll("`", ""),
    // Without the words that lead to a list.
    summary: shownText(tokens[first + 1]).replace(/(?<=\.) [^.]*:$/, ""),
    html: markdown.renderer.render(tokens, markdown.options, {}),
    text,
    sections,
  };
}

/** Code that may be broken into lines; other code fits a phone, and is not broken behind its dashes. */
function isPhrase({ type, content }: Token): boolean {
  return type === "code_inline" && (content.length > 32 || content.includes(" "));
}

/** The most characters that a hit shows below its title. */
const MAX_EXCERPT_CHARS = 160;

/** How the text below a heading begins. */
function textAfter(tokens: readonly Token[]): string {
  const end = tokens.findIndex(({ type }) => type === "heading_open");
  const texts = tokens.slice(0, end === -1 ? undefined : end).filter(({ type }) => type === "inline").map(
    shownText,
  );
  return texts.join(" ").slice(0, MAX_EXCERPT_CHARS);
}

/** Pages of the site by their address there, pictures by theirs, and every other file at the repository. */
function rewriteLinks(
  token: Token,
  { source, address }: { readonly source: string; readonly address: string },
): void {
  const name = token.type === "link_open" ? "href" : token.type === "image" ? "src" : undefined;
  const link = name === undefined ? null : token.attrGet(name);
  if (name === undefined || typeof link !== "string" || IS_WHOLE.test(link)) return;
  const up = "../".repeat(address.split("/").length - 1) || "./";
  token.attrSet(name, toAddress(link, { source, up }));
  if (link.endsWith(".png")) reservePlace(token, join(source, "..", link));
}

/** A link to a place on the same page, or with its scheme. */
const IS_WHOLE = /^(?:[a-z]+:|#)/i;

/** The Markdown of a page with the whole addresses of its links, to be read elsewhere. */
export function toMarkdown({ source = "", text }: SitePage): string {
  return text.replaceAll(/\]\(([^()\s]+)\)/g, (whole, link) =>
    IS_WHOLE.test(link) ? whole : `](${toAddress(link, { source, up: project.homepage })})`);
}

/** Lets a page stand still while its picture, which is larger than the page, is on the way. */
function reservePlace(token: Token, target: string): void {
  // A PNG begins with its signature and its size.
  const { buffer } = Deno.readFileSync(new URL(`../${target}`, import.meta.url));
  const head = new DataView(buffer);
  token.attrSet("width", `${head.getUint32(16)}`);
  token.attrSet("height", `${head.getUint32(20)}`);
  token.attrSet("loading", "lazy");
}

const listed = new Set(groups.flatMap(({ pages }) => pages));

function toAddress(
  link: string,
  { source, up }: { readonly source: string; readonly up: string },
): string {
  const [path = "", anchor] = link.split("#");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  const target = normalize(join(source, "..", path));
  if (listed.has(target)) return `${up}${addressOf(target)}${hash}`;
  if (/^docs\/(?:pictures\/|.*\.svg$)/.test(target)) return up + target.replace(/^docs\//, "");
  return `${project.repository}/blob/main/${target}${hash}`;
}
