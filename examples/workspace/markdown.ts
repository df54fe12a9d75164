/** Reads Markdown files: a page for each section, an element for each block. */
import MarkdownIt, { type Token } from "markdown-it";
import type { ListContent } from "../../mod.ts";
import type { DocumentElement, DocumentPage } from "../../src/provider/mod.ts";
import { type FileContent, firstWords } from "./page.ts";

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;
const parser = new MarkdownIt();

/** Reads a Markdown file; its front matter may have `title`, `keywords` and `summary`. */
export function readMarkdown(text: string, name: string): FileContent {
  const source = text.replaceAll("\r\n", "\n");
  const matter = readFrontMatter(source);
  const pages = toPages(source.replace(FRONT_MATTER, ""), name);
  return {
    title: matter.get("title") ?? pages[0]?.title ?? name,
    keywords: (matter.get("keywords") ?? "").split(",").map((word) => word.trim()).filter((word) =>
      word !== ""
    ),
    summary: matter.get("summary") ?? "",
    pages,
  };
}

function readFrontMatter(source: string): Map<string, string> {
  const lines = FRONT_MATTER.exec(source)?.[1]?.split("\n") ?? [];
  return new Map(lines.flatMap((line) => {
    const cut = line.indexOf(":");
    return cut < 1 ? [] : [[line.slice(0, cut).trim(), line.slice(cut + 1).trim()]];
  }));
}

/** A heading of the first or second level begins a page. */
function toPages(source: string, name: string): DocumentPage[] {
  const lines = source.split("\n");
  const pages: { title: string; elements: DocumentElement[] }[] = [];
  for (const block of blocksOf(parser.parse(source, {}))) {
    const [{ type, tag, map }] = block;
    const isBreak = type === "heading_open" && ["h1", "h2"].includes(tag);
    const title = isBreak ? block[1]?.content ?? name : name;
    if (isBreak || pages.length === 0) pages.push({ title, elements: [] });
    pages.at(-1)?.elements.push(toElement(block, lines.slice(...map ?? []).join("\n").trim()));
  }
  return pages.length === 0 ? [{ title: name, elements: [] }] : pages;
}

/** The tokens of one block, from its beginning to its end. */
type Block = readonly [Token, ...Token[]];

/** Divides tokens into those of each block, or of each item of a list. */
function blocksOf(tokens: readonly Token[]): Block[] {
  const blocks: [Token, ...Token[]][] = [];
  for (const token of tokens) {
    if (token.level === tokens[0]?.level && token.nesting >= 0) blocks.push([token]);
    else blocks.at(-1)?.push(token);
  }
  return blocks;
}

function toElement(block: Block, source: string): DocumentElement {
  const [{ type, tag, content, info }, ...inner] = block;
  switch (type) {
    case "heading_open": {
      const text = inner[0]?.content ?? "";
      return {
        category: "heading",
        summary: firstWords(text),
        content: { level: Number(tag.slice(1)), text },
      };
    }
    case "fence":
    case "code_block":
      return {
        category: "code",
        summary: firstWords(content),
        content: { language: info, code: content.replace(/\n$/, "") },
      };
    case "bullet_list_open":
    case "ordered_list_open":
      return { category: "list", summary: firstWords(source), content: listContent(block) };
    case "table_open":
      return toTable(inner);
    case "hr":
      return { category: "separator", summary: "", content: {} };
    default:
      return { category: "text", summary: firstWords(source), content: { text: source } };
  }
}

function toTable(tokens: readonly Token[]): DocumentElement {
  const rows: string[][] = [];
  for (const { type, content } of tokens) {
    if (type === "tr_open") rows.push([]);
    if (type === "inline") rows.at(-1)?.push(content);
  }
  const [headers = [], ...body] = rows;
  const summary = `${headers.join(", ")} (${body.length} rows)`;
  return { category: "table", summary: firstWords(summary), content: { headers, rows: body } };
}

function listContent([{ type }, ...inner]: Block): ListContent {
  return {
    ordered: type === "ordered_list_open",
    items: blocksOf(inner.slice(0, -1)).map(([, ...item]) => {
      const blocks = blocksOf(item);
      const nested = blocks.find(([{ type }]) => type.endsWith("list_open"));
      const text = blocks.filter((block) => block !== nested)
        .flatMap((block) => block.filter(({ type }) => type === "inline").map(({ content }) => content)).join(
          " ",
        );
      return nested === undefined ? text : { text, ...listContent(nested) };
    }),
  };
}
