/** Markdown: CommonMark with tables, and a front matter in YAML. It is written as HTML, and read as that. */
import MarkdownIt, { type Token } from "markdown-it";
import { parse as parseYaml } from "yaml";
import { isRecord } from "../basics.ts";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { decodeText } from "./decode_text.ts";
import { aboutFile } from "./about.ts";
import {
  type AboutFile,
  type ParsedDocument,
  type ParseInput,
  type ParseLimits,
  unreadable,
} from "./format.ts";
import { closed, readHtml } from "./html/mod.ts";
import type { HtmlReader } from "./html/reader.ts";
import { documentOf, headingsOf, openingOf, toSections } from "./sections.ts";

const FRONT_MATTER = /^---[ \t]*\n([^]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
const MAX_FRONT_MATTER = 64 * 1024;

/** Opens a Markdown file. Its pages are the sections under its top headings. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const { text, losses: textLosses } = decodeText(bytes);
  const { matter, body } = cutFrontMatter(text);
  const { elements, losses } = readMarkdown(body, limits);
  const title = matter.title ?? headingsOf(elements, 1)[0];
  const sections = toSections(elements, title ?? fileName);
  // The front matter belongs to the first section.
  const pages = sections.map((page, index) =>
    index > 0 ? page : { ...page, elements: [...matter.elements, ...page.elements] }
  );
  return documentOf(pages, {
    elements,
    title,
    keywords: matter.keywords,
    about: matter.about,
    opening: [...matter.description === undefined ? [] : [matter.description], plainOpening(elements, limits)]
      .join("\n"),
    losses: [...losses, ...textLosses],
  });
}

/** Reads Markdown without a front matter, also of other formats that contain it. */
export function readMarkdown(text: string, limits: ParseLimits): HtmlReader {
  return readHtml(`<body>${toHtml(text, limits)}`, limits);
}

/** The beginning of the text, without the marks of Markdown. */
export function plainOpening(elements: readonly DocumentElement[], limits: ParseLimits): string {
  const opening = openingOf(elements).replace(/^> /gm, "");
  return openingOf(
    readHtml(
      markdown.parseInline(opening, {}).map((token) => plainHtml(token, limits.maxDepth)).join(""),
      limits,
    ).elements,
  );
}

interface FrontMatter {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly keywords: readonly string[];
  readonly about?: AboutFile;
  readonly elements: readonly DocumentElement[];
}

function cutFrontMatter(text: string): { readonly matter: FrontMatter; readonly body: string } {
  const found = FRONT_MATTER.exec(text.slice(0, MAX_FRONT_MATTER));
  if (found === null) return { matter: { keywords: [], elements: [] }, body: text };
  const [whole, code = ""] = found;
  const members = readMembers(code);
  const words = [members["keywords"], members["tags"]].flatMap((value) =>
    typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : []
  );
  return {
    matter: {
      title: textOf(members["title"]),
      description: textOf(members["description"]) ?? textOf(members["summary"]),
      about: aboutFile({
        author: [members["author"] ?? members["authors"]].flat().flatMap((name) => textOf(name) ?? []).join(
          ", ",
        ),
        created: members["date"],
        changed: members["lastmod"] ?? members["updated"],
        description: textOf(members["description"]) ?? textOf(members["summary"]),
        language: members["lang"] ?? members["language"],
      }),
      keywords: words.flatMap((word) => textOf(word)?.trim() ?? []),
      elements: [{ category: "code", content: { language: "yaml", code } }],
    },
    body: text.slice(whole.length),
  };
}

function readMembers(code: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseYaml(code, { maxAliasCount: 100, logLevel: "silent", schema: "failsafe" });
    return isRecord(value) ? value : {};
  } catch {
    // It is shown as it is.
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

const markdown = new MarkdownIt({ html: true, linkify: false });
const { escapeHtml } = markdown.utils;

/** Markdown as HTML, in which paragraphs keep their marks, since a text may be rich. */
function toHtml(text: string, { maxDepth }: ParseLimits): string {
  const tokens = markdown.set({ maxNesting: maxDepth }).parse(text, {});
  // The parser leaves out what is nested more deeply, without a word.
  if (tokens.some(({ nesting, level }) => nesting === 1 && level >= maxDepth - 1)) {
    throw unreadable("too_large", `it is nested deeper than ${maxDepth} levels`);
  }
  // How many quotations there are around a paragraph, in the document and in each item.
  const quotes = [0];
  return tokens.map((token, index) => {
    const before = tokens[index - 1];
    if (token.type === "list_item_open") quotes.push(0);
    else if (token.type === "list_item_close") quotes.pop();
    else if (/^blockquote_/.test(token.type)) quotes.push((quotes.pop() ?? 0) + token.nesting);
    if (token.type === "html_block") return closed(token.content, { maxDepth });
    if (token.type !== "inline") {
      const html = markdown.renderer.render([token], markdown.options, {});
      return token.type === "heading_close" && before !== undefined ? html + linksIn(before) : html;
    }
    if (before?.type === "heading_open") return plainHtml(token, maxDepth);
    if (before?.type !== "paragraph_open") return plainHtml(token, maxDepth) + linksIn(token);
    return paragraphHtml(token, { quotes: quotes.at(-1) ?? 0, isOfItem: quotes.length > 1, maxDepth });
  }).join("");
}

/** A paragraph with its links and pictures. One that is nothing but a picture, a link or a formula is only that. */
function paragraphHtml(
  token: Token,
  { quotes, isOfItem, maxDepth }: {
    readonly quotes: number;
    readonly isOfItem: boolean;
    readonly maxDepth: number;
  },
): string {
  const children = token.children ?? [];
  const parts = children.filter(({ type, content }) =>
    type !== "softbreak" && !(type === "text" && content.trim() === "")
  );
  const links = linksIn(token);
  const images = children.filter(({ type }) => type === "image").map((image) =>
    voidTag("img", { src: image.attrGet("src"), alt: image.content })
  ).join("");
  const isLink = parts[0]?.type === "link_open" &&
    parts.findIndex(({ type }) => type === "link_close") === parts.length - 1;
  const formula = /^\$\$([^]+)\$\$$/.exec(token.content.trim())?.[1];
  if (!isOfItem && formula !== undefined) return `<math alttext="${escapeHtml(formula.trim())}"></math>`;
  if (!isOfItem && (isLink && links !== "" || parts.every(({ type }) => type === "image"))) {
    return isLink ? links : images;
  }
  const lines = sourceHtml(token, maxDepth).split("\n");
  return lines.map((line) => "&gt; ".repeat(quotes) + line).join("<br>") + links + images;
}

/** Comments, and tags that give text a form; others, as in `List<String>`, are text that was meant to be seen. */
const TAG =
  /(?<!\\)(<!--(?:[^]*?-->|[^]*)|<\/?(?:a|abbr|b|bd[io]|big|br|center|cite|code|del|dfn|em|font|i|img|ins|kbd|label|mark|nobr|picture|q|rb|rp|rt|ruby|s|samp|small|source|span|strike|strong|su[bp]|time|tt|u|var|wbr)(?:\s[^<>]*)?\/?>)/i;

/** Inline Markdown as it is written, with the tags in it as tags; its pictures follow it. */
function sourceHtml({ content, children }: Token, maxDepth: number): string {
  if (!children?.some(({ type }) => type === "html_inline")) return escapeHtml(content);
  const images: string[] = [];
  const toHtml = (text: string, index: number) => {
    if (index % 2 === 0) return escapeHtml(text);
    const tag = text.replace(/\n/g, " ");
    if (!/^<img\b/i.test(tag)) return tag;
    images.push(tag);
    return "";
  };
  const parts = content.split(/(`+[^`]*`+)/).map((part, at) =>
    at % 2 === 1 ? escapeHtml(part) : part.replace(/<br\b[^<>]*>\n?/gi, "\n").split(TAG).map(toHtml).join("")
  );
  return closed(parts.join("") + images.join(""), { maxDepth });
}

/** Inline Markdown without its marks. */
function plainHtml({ children }: Token, maxDepth: number): string {
  const parts = (children ?? []).map(({ type, content, markup }) => {
    if (type === "html_inline" && TAG.test(content)) return content;
    if (/^s_(?:open|close)$/.test(type)) return markup;
    return /^(?:soft|hard)break$/.test(type) ? " " : escapeHtml(content);
  });
  return closed(parts.join(""), { maxDepth });
}

/** The links of Markdown in a text. */
function linksIn({ children }: Token): string {
  let links = "";
  let link: { readonly href: string; alt: string } | undefined;
  for (const child of children ?? []) {
    if (child.type === "link_open") link = { href: String(child.attrGet("href") ?? ""), alt: "" };
    else if (child.type === "link_close") {
      if (link !== undefined && /^[^#]/.test(link.href)) links += voidTag("area", link);
      link = undefined;
    } else if (link !== undefined && child.type !== "html_inline") link.alt += child.content;
  }
  return links;
}

function voidTag(name: string, attributes: Readonly<Record<string, string | number | null>>): string {
  const filled = Object.entries(attributes).filter(([, value]) => value !== null && value !== "");
  return `<${name}${filled.map(([key, value]) => ` ${key}="${escapeHtml(String(value))}"`).join("")}>`;
}
