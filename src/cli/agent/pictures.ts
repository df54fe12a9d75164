/** What the Agent's command line draws of a read when it writes to a terminal. */
import { withoutSequences } from "../../terminal/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { ReadResourceRet } from "../../protocol/resources.ts";
import { type DpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/scheme.ts";
import { readDocument, readElement, readPage } from "../../agent/document_content.ts";
import { drawElement, drawPage } from "../answers/content_picture.ts";
import { drawDocument } from "../answers/finder_picture.ts";
import { drawDesktop } from "../answers/desktop_picture.ts";

/** Draws a window, a document, a page or an element; `undefined` for what has no picture. */
export function drawRead(uri: string, result: ReadResourceRet, screen: Screen): string | undefined {
  if (hasWindowScheme(uri)) return drawWindow(uri, result, screen);
  if (!isValidDpeUri(uri)) return undefined;
  const parsed = parseDpeUri(uri);
  try {
    if (parsed.level === 0) return undefined;
    const answer = { uri, result };
    return parsed.level === 1 ? drawIndex(parsed, answer, screen) : drawContent(parsed, answer, screen);
  } catch {
    // What is no document, page or element is shown as it came
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
  // Whoever asks for Markdown or text wants to see it
  const rendered = content.content_markdown ?? content.content_text;
  if (rendered !== undefined) return withoutSequences(rendered);
  return "elements" in content ? drawPage(content, screen) : drawElement(content, screen);
}
