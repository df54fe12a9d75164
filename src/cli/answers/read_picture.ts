/** Draws what a read returned: windows as boxes, documents as trees, pages and elements as their text. Pure. */
import { toSafeLine, withoutSequences } from "../../text/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { ReadResourceRet } from "../../protocol/resources.ts";
import { type DpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { readDocument, readElement, readPage } from "../../agent/documents.ts";
import { drawDocument } from "./finder.ts";
import { drawDesktop } from "./desktop.ts";
import { alignColumns } from "../../terminal/shapes.ts";
import { toElement } from "../../dpe/content.ts";
import { renderElementText } from "../../dpe/text.ts";
import type { DPEElementDetail } from "../../protocol/dpe.ts";

export function drawRead(uri: string, result: ReadResourceRet, screen: Screen): string | undefined {
  if (hasWindowScheme(uri)) return drawWindow(uri, result, screen);
  if (!isValidDpeUri(uri)) return undefined;
  const parsed = parseDpeUri(uri);
  try {
    if (parsed.level === 0) return undefined;
    const answer = { uri, result };
    return parsed.level === 1 ? drawIndex(parsed, answer, screen) : drawContent(parsed, answer, screen);
  } catch {
    // Not a valid document, page or element: the caller shows the text.
    return undefined;
  }
}

function drawWindow(uri: string, { contents }: ReadResourceRet, screen: Screen): string | undefined {
  const texts = contents.map(({ text }) => text).filter((text) => text !== undefined);
  if (texts.length === 0) return undefined;
  return drawDesktop([`${uri}\n\n${texts.join("\n\n")}`], { ...screen, maxLines: Infinity });
}

function drawIndex(
  { host }: DpeUri,
  answer: { readonly uri: string; readonly result: ReadResourceRet },
  screen: Screen,
): string {
  const { pages, ...document } = readDocument(answer);
  const index = pages?.map((page) => ({ page }));
  return drawDocument({ document: { ...document, server: host }, pages: index }, screen);
}

function drawContent(
  { level }: DpeUri,
  answer: { readonly uri: string; readonly result: ReadResourceRet },
  screen: Screen,
): string {
  const content = level === 2 ? readPage(answer) : readElement(answer);
  // The URI asked for Markdown or text.
  const rendered = content.content_markdown ?? content.content_text;
  if (rendered !== undefined) return withoutSequences(rendered);
  const elements = "elements" in content ? content.elements : [content];
  return elements.map((element) => drawElement(element, screen)).join("\n\n");
}

/** The text of an element; a table in columns. */
function drawElement(element: DPEElementDetail, { columns: width }: Screen): string {
  const typed = toElement(element);
  if (typed?.category !== "table" && typed?.category !== "pivot_table") {
    return withoutSequences(renderElementText(element));
  }
  const { headers, rows: body } = typed.content;
  const rows = [headers, ...body].map((row) => row.map((cell) => toSafeLine(`${cell ?? ""}`)));
  return alignColumns(rows, { width }).join("\n");
}
