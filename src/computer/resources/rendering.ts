/** Renders pages and elements as Markdown or text, where their MCP server has not (`docs/protocol/finder.md#formats`). */
import { renderElementMarkdown, renderPageMarkdown } from "../../dpe/markdown.ts";
import { renderElementText, renderPageText } from "../../dpe/text.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { parseDpeElement, parseDpePage } from "../../protocol/dpe_answers.ts";
import type { ResourceContents } from "../../protocol/resources.ts";
import { dpeQueryOf } from "../../uri/dpe_query.ts";
import type { DpeUri } from "../../uri/dpe_uri.ts";

const MEMBERS = { markdown: "content_markdown", text: "content_text" } as const;

/**
 * Leaves out the elements that a URI with `elements` does not ask for beside a rendered text, where their MCP server has
 * not (`docs/protocol/extensions.md#rendered-text-without-its-elements`).
 */
export function withoutElements(contents: readonly ResourceContents[], uri: DpeUri): ResourceContents[] {
  const { format } = uri.queryParams;
  const { elements } = dpeQueryOf(uri);
  if (elements === undefined || (format !== "markdown" && format !== "text")) return [...contents];
  const isWanted = (element: unknown) =>
    isRecord(element) && elements.some((category) => category === element["category"]);
  return contents.map((item) => {
    const body = item.text === undefined ? undefined : parseJson(item.text);
    if (!isRecord(body) || typeof body[MEMBERS[format]] !== "string") return item;
    const { elements: all, metadata: _, ...rest } = body;
    if (Array.isArray(all)) {
      const kept = all.filter(isWanted);
      return kept.length === all.length
        ? item
        : { ...item, text: JSON.stringify({ ...body, elements: kept }) };
    }
    if (uri.level !== 3 || isWanted(body)) return item;
    return { ...item, text: JSON.stringify({ ...rest, content: {} }) };
  });
}

/**
 * Adds `content_markdown` or `content_text` to the JSON of a page or an element, if the URI requests it and the server
 * did not render it (`docs/protocol/finder.md#formats`).
 */
export function addRendering(contents: readonly ResourceContents[], uri: DpeUri): ResourceContents[] {
  const { format } = uri.queryParams;
  if (uri.level < 2 || (format !== "markdown" && format !== "text")) return [...contents];
  return contents.map((item) => {
    const body = item.text === undefined ? undefined : parseJson(item.text);
    if (!isRecord(body) || typeof body[MEMBERS[format]] === "string") return item;
    const rendering = render(body, uri.level, format);
    if (rendering === undefined) return item;
    return { ...item, text: JSON.stringify({ ...body, [MEMBERS[format]]: rendering }) };
  });
}

function render(body: unknown, level: number, format: keyof typeof MEMBERS): string | undefined {
  try {
    if (level === 2) {
      const page = parseDpePage(body);
      return format === "markdown" ? renderPageMarkdown(page) : renderPageText(page);
    }
    const element = parseDpeElement(body);
    return format === "markdown" ? renderElementMarkdown(element) : renderElementText(element);
  } catch {
    // JSON that is not a page or an element is passed on unchanged.
    return undefined;
  }
}
