/** Markdown: CommonMark with tables, and a front matter in YAML. */
import MarkdownIt, { type Token } from "markdown-it";
import { parse as parseYaml } from "yaml";
import { isRecord } from "../../json.ts";
import type { ListItem } from "../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../provider/documents/source.ts";
import { decodeText } from "./decode_text.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable } from "./format.ts";
import { readHtml } from "./html/mod.ts";
import { raiseText, strikeText } from "./raised_text.ts";
import { documentOf, headingsOf, openingOf, toSections, withIds } from "./sections.ts";

/** The front matter at the beginning of a file. */
const FRONT_MATTER = /^---[ \t]*\n([^]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
/** The most characters of a front matter. */
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
    index > 0 ? page : { ...page, elements: withIds([...matter.elements, ...page.elements], 0) }
  );
  return documentOf(pages, {
    title,
    headings: headingsOf(elements),
    keywords: matter.keywords,
    opening: [...matter.description === undefined ? [] : [matter.description], plainOpening(elements)]
      .join("\n"),
    losses: [...losses, ...textLosses],
  });
}

/** The beginning of the text, without the marks of Markdown. */
function plainOpening(elements: readonly DocumentElement[]): string {
  const opening = openingOf(elements).replace(/^> /gm, "");
  return plainText(markdown.parseInline(opening, {}));
}

interface FrontMatter {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly keywords: readonly string[];
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

/** The elements of a Markdown text, in reading order, without ids, and what they do not show. */
function readMarkdown(
  text: string,
  limits: Pick<ParseLimits, "maxDepth">,
): { readonly elements: DocumentElement[]; readonly losses: readonly string[] } {
  const reader = new TokenReader(parseTokens(text, limits), limits);
  return { elements: [...reader.blocks()], losses: [...reader.losses] };
}

function parseTokens(text: string, { maxDepth }: Pick<ParseLimits, "maxDepth">): Token[] {
  const tokens = markdown.set({ maxNesting: maxDepth }).parse(text, {});
  // The parser leaves out what is nested more deeply, without a word.
  if (tokens.some(({ nesting, level }) => nesting === 1 && level >= maxDepth - 1)) {
    throw unreadable("too_large", `it is nested deeper than ${maxDepth} levels`);
  }
  return tokens;
}

interface MarkdownList {
  readonly ordered?: boolean;
  readonly start?: number;
  readonly items: readonly ListItem[];
}

class TokenReader {
  readonly losses = new Set<string>();
  readonly #tokens: readonly Token[];
  readonly #limits: Pick<ParseLimits, "maxDepth">;
  #at = 0;

  constructor(tokens: readonly Token[], limits: Pick<ParseLimits, "maxDepth">) {
    this.#tokens = tokens;
    this.#limits = limits;
  }

  /** The elements up to the end, or up to the token that closes what contains them. */
  *blocks(end?: string): Generator<DocumentElement, void> {
    for (let token = this.#next(); token !== undefined && token.type !== end; token = this.#next()) {
      yield* this.#block(token);
    }
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  *#block(token: Token): Generator<DocumentElement, void> {
    switch (token.type) {
      case "heading_open": {
        const inline = this.#inlineUntil("heading_close");
        yield {
          category: "heading",
          content: { level: Number(token.tag.slice(1)), text: plainText(inline) },
        };
        yield* linksOf(inline);
        break;
      }
      case "paragraph_open":
        yield* paragraph(this.#inlineUntil("paragraph_close"));
        break;
      case "bullet_list_open":
      case "ordered_list_open":
        yield* this.#list(token);
        break;
      case "fence":
      case "code_block": {
        const language = token.info.trim().split(/\s+/)[0] ?? "";
        const code = token.content.replace(/\n$/, "");
        yield language === "mermaid"
          ? { category: "diagram", content: { diagram_type: language, source: code } }
          : { category: "code", content: { ...(language === "" ? {} : { language }), code } };
        break;
      }
      case "blockquote_open":
        for (const element of this.blocks("blockquote_close")) yield quoted(element);
        break;
      case "table_open":
        yield* this.#table();
        break;
      case "hr":
        yield { category: "separator", content: { style: "line" } };
        break;
      case "html_block":
        yield* this.#html(token.content);
        break;
    }
  }

  *#html(text: string): Generator<DocumentElement, void> {
    const { elements, losses } = readHtml(text, this.#limits);
    for (const loss of losses) this.losses.add(loss);
    yield* elements;
  }

  #inlineUntil(end: string): readonly Token[] {
    const inline: Token[] = [];
    for (let token = this.#next(); token !== undefined && token.type !== end; token = this.#next()) {
      if (token.type === "inline") inline.push(token);
    }
    return inline;
  }

  /** A list whose items are more than texts and lists is followed by what else they contain. */
  *#list(open: Token): Generator<DocumentElement, void> {
    const others: DocumentElement[] = [];
    const { items, ...list } = this.#readList(open, others);
    if (items.length > 0) yield { category: "list", content: { ...list, items } };
    yield* others;
  }

  #readList(open: Token, others: DocumentElement[]): MarkdownList {
    const isOrdered = open.type === "ordered_list_open";
    const end = isOrdered ? "ordered_list_close" : "bullet_list_close";
    const items: ListItem[] = [];
    for (let token = this.#next(); token !== undefined && token.type !== end; token = this.#next()) {
      if (token.type === "list_item_open") items.push(this.#item(others));
    }
    const start = Number(open.attrGet("start") ?? 1);
    return isOrdered ? { ordered: true, ...(start === 1 ? {} : { start }), items } : { items };
  }

  #item(others: DocumentElement[]): ListItem {
    const texts: string[] = [];
    let below: MarkdownList | undefined;
    for (
      let token = this.#next();
      token !== undefined && token.type !== "list_item_close";
      token = this.#next()
    ) {
      if (token.type === "paragraph_open") {
        const inline = this.#inlineUntil("paragraph_close");
        texts.push(sourceOf(inline));
        others.push(...linksOf(inline), ...imagesOf(inline));
      } else if (/^(bullet|ordered)_list_open$/.test(token.type)) {
        const list = this.#readList(token, others);
        below = below === undefined ? list : { ...below, items: [...below.items, ...list.items] };
      } else others.push(...this.#block(token));
    }
    const text = texts.join("\n");
    return below === undefined ? text : { text, ...below };
  }

  *#table(): Generator<DocumentElement, void> {
    const rows: string[][] = [];
    const links: DocumentElement[] = [];
    let headers: string[] = [];
    for (
      let token = this.#next();
      token !== undefined && token.type !== "table_close";
      token = this.#next()
    ) {
      if (token.type === "tr_open") rows.push([]);
      if (token.type === "inline") {
        rows.at(-1)?.push(plainText([token]));
        links.push(...linksOf([token]));
      }
      if (token.type === "thead_close") headers = rows.pop() ?? [];
    }
    yield { category: "table", content: { headers, rows, total_rows: rows.length } };
    yield* links;
  }
}

/** A paragraph with its links and pictures. One that is nothing but a picture, a link or a formula is only that. */
function* paragraph(inline: readonly Token[]): Generator<DocumentElement, void> {
  const text = sourceOf(inline);
  const images = imagesOf(inline);
  const links = linksOf(inline);
  const parts = inline.flatMap(({ children }) => children ?? []).filter(({ type, content }) =>
    type !== "softbreak" && !(type === "text" && content.trim() === "")
  );
  const formula = /^\$\$([^]+)\$\$$/.exec(text)?.[1];
  if (formula !== undefined) yield { category: "formula", content: { expression: formula.trim() } };
  else if (images.length > 0 && parts.every(({ type }) => type === "image")) yield* images;
  else if (links.length === 1 && parts[0]?.type === "link_open" && parts.at(-1)?.type === "link_close") {
    yield* links;
  } else {
    if (text !== "") yield { category: "text", content: { text } };
    yield* links;
    yield* images;
  }
}

/** Inline Markdown as it is written, since a text may be rich; HTML in it becomes text. */
function sourceOf(inline: readonly Token[]): string {
  return inline.map(({ content, children }) =>
    children?.some(({ type }) => type === "html_inline")
      ? content.split(/(`+[^`]*`+)/).map((part, at) => at % 2 === 1 ? part : withoutTags(part)).join("")
      : content
  ).join("\n").trim();
}

function plainText(inline: readonly Token[]): string {
  let html = "";
  let text = "";
  for (const { type, content, markup } of inline.flatMap(({ children }) => children ?? [])) {
    if (type === "code_inline") {
      text += withoutTags(html) + content;
      html = "";
    } else if (/^s_(?:open|close)$/.test(type)) html += markup;
    else {html += /^(?:soft|hard)break$/.test(type)
        ? " "
        : type === "text"
        ? content.replaceAll("<", LESS)
        : content;}
  }
  return (text + withoutTags(html)).replaceAll(LESS, "<").replace(/\s*\n\s*/g, " ").trim();
}

/** Stands for a `<` that begins no tag. */
const LESS = "\ue000";
/** Comments, and tags that give text a form; others, as in `List<String>`, are text that was meant to be seen. */
const TAG =
  /(?<!\\)(?:<!--(?:[^]*?-->|[^]*)|<\/?(?:a|abbr|b|bd[io]|big|br|center|cite|code|del|dfn|em|font|i|img|ins|kbd|label|mark|nobr|picture|q|rb|rp|rt|ruby|s|samp|small|source|span|strike|strong|su[bp]|time|tt|u|var|wbr)(?:\s[^<>]*)?\/?>)/gi;

/** The text of inline HTML, with the forms of letters that it gives. */
function withoutTags(text: string): string {
  return text
    .replace(
      /<(su[bp])\b[^<>]*>([^<]*)<\/\1>/gi,
      (_, tag: string, inner: string) => raiseText(inner, tag.toLowerCase() === "sup" ? "raised" : "lowered"),
    )
    .replace(
      /<(del|s|strike)>([^<]*)<\/\1>(?=(<ins\b)?)/gi,
      (_, _tag, inner: string, ins?: string) => strikeText(inner) + (ins === undefined ? "" : " "),
    )
    .replace(/<rp\b[^<>]*>[^<]*<\/rp>/gi, "")
    .replace(/<rt\b[^<>]*>([^<]*)<\/rt>/gi, "($1)")
    .replace(/<br\b[^<>]*>\n?/gi, "\n")
    .replace(TAG, "");
}

function linksOf(inline: readonly Token[]): DocumentElement[] {
  const links: DocumentElement[] = [];
  for (const { children } of inline) {
    let url: string | undefined;
    let text = "";
    for (const child of children ?? []) {
      const isTag = child.type === "html_inline" && /^<\/?a\b/i.test(child.content);
      if (child.type === "link_open" || isTag && !child.content.startsWith("</")) {
        url = String(isTag ? attributeIn(child.content, "href") : child.attrGet("href") ?? "");
        text = "";
      } else if (child.type === "link_close" || isTag) {
        if (url !== undefined && url !== "" && !url.startsWith("#")) {
          links.push({ category: "link", content: { text: text === "" ? url : text, url } });
        }
        url = undefined;
      } else if (child.type !== "html_inline") text += child.content;
    }
  }
  return links;
}

function imagesOf(inline: readonly Token[]): DocumentElement[] {
  return inline.flatMap(({ children }) => children ?? []).flatMap((child): DocumentElement[] => {
    const isTag = child.type === "html_inline" && /^<img\b/i.test(child.content);
    if (!isTag && child.type !== "image") return [];
    const [description, url] = isTag
      ? [attributeIn(child.content, "alt"), attributeIn(child.content, "src")]
      : [child.content, String(child.attrGet("src") ?? "")];
    return [{ category: "image", content: { description, url } }];
  });
}

/** An attribute of a tag within a text. */
function attributeIn(tag: string, name: "alt" | "href" | "src"): string {
  const value = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(tag);
  return value?.slice(1).join("") ?? "";
}

/** A text of a quotation, marked as Markdown marks it. */
function quoted(element: DocumentElement): DocumentElement {
  if (element.category !== "text") return element;
  return { ...element, content: { text: element.content.text.replace(/^/gm, "> ") } };
}
