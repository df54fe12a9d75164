/** Reads Markdown files: a page for each section, an element for each block. */
import { marked, type Token, type Tokens } from "marked";
import type { ListContent } from "../../mod.ts";
import type { DocumentElement, DocumentPage } from "../../src/provider/mod.ts";
import { type FileContent, firstWords } from "./page.ts";

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;

/** Reads a Markdown file; its front matter may have `title`, `keywords` and `summary`. */
export function readMarkdown(text: string, name: string): FileContent {
  const source = text.replaceAll("\r\n", "\n");
  const matter = readFrontMatter(source);
  const pages = toPages(marked.lexer(source.replace(FRONT_MATTER, "")), name);
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
function toPages(tokens: readonly Token[], name: string): DocumentPage[] {
  const pages: { title: string; elements: DocumentElement[] }[] = [];
  for (const token of tokens) {
    if (token.type === "space") continue;
    const isBreak = token.type === "heading" && token["depth"] <= 2;
    if (isBreak || pages.length === 0) pages.push({ title: isBreak ? token["text"] : name, elements: [] });
    pages.at(-1)?.elements.push(toElement(token));
  }
  return pages.length === 0 ? [{ title: name, elements: [] }] : pages;
}

function toElement(token: Token): DocumentElement {
  switch (token.type) {
    case "heading":
      return {
        category: "heading",
        summary: firstWords(token["text"]),
        content: { level: token["depth"], text: token["text"] },
      };
    case "code":
      return {
        category: "code",
        summary: firstWords(token["text"]),
        content: { language: token["lang"] ?? "", code: token["text"] },
      };
    case "list":
      return toList(token as Tokens.List);
    case "table":
      return toTable(token as Tokens.Table);
    case "hr":
      return { category: "separator", summary: "", content: {} };
    default:
      return { category: "text", summary: firstWords(token.raw), content: { text: token.raw.trim() } };
  }
}

function toTable(table: Tokens.Table): DocumentElement {
  const headers = table.header.map(({ text }) => text);
  const rows = table.rows.map((row) => row.map(({ text }) => text));
  const summary = `${headers.join(", ")} (${rows.length} rows)`;
  return { category: "table", summary: firstWords(summary), content: { headers, rows } };
}

function toList(list: Tokens.List): DocumentElement {
  const content = listContent(list);
  return { category: "list", summary: firstWords(list.raw), content };
}

function listContent(list: Tokens.List): ListContent {
  return {
    ordered: list.ordered,
    items: list.items.map((item) => {
      const nested = item.tokens.find((token) => token.type === "list");
      const text = item.tokens.filter((token) => token.type !== "list").map(({ raw }) => raw.trim()).join(
        " ",
      );
      return nested === undefined ? text : { text, ...listContent(nested as Tokens.List) };
    }),
  };
}
