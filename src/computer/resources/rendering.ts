/** `content_markdown` and `content_text`, where the MCP server left them to the Computer (`docs/protocol/finder.md#formats`). */
import { renderElementMarkdown, renderPageMarkdown } from "../../dpe/markdown.ts";
import { renderElementText, renderPageText } from "../../dpe/text.ts";
import { isRecord, parseJson } from "../../json.ts";
import { parseDpeElement, parseDpePage } from "../../protocol/answers.ts";
import type { ResourceContents } from "../../protocol/resources.ts";
import type { DpeUri } from "../../uri/dpe_uri.ts";

const MEMBERS = { markdown: "content_markdown", text: "content_text" } as const;

/** Adds the member that the URI's `format` asks for to the JSON of a page or an element, unless it is there. */
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
    // What is no page or element passes as it is: the Agent sees what the server said.
    return undefined;
  }
}
