/** Opens a file of a test as a parser process does. */
import type { ParsedDocument, ParseLimits } from "../../../src/formats/format.ts";
import { renderPageMarkdown } from "@a2c-smcp/sdk";
import { kindOf, kindOfContent, openFile as openKind } from "../../../src/formats/kinds.ts";

const LIMITS: ParseLimits = { maxUnpackedBytes: 64 * 1024 * 1024, maxPageBytes: 1024 * 1024, maxDepth: 100 };

/** Opens a file with this name and content. */
export async function openFile(
  fileName: string,
  content: string | Uint8Array<ArrayBuffer>,
  limits: Partial<ParseLimits> = {},
): Promise<ParsedDocument> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const kind = kindOf(fileName) ?? kindOfContent(bytes, fileName);
  if (kind === undefined) throw new TypeError(`No parser for "${fileName}"`);
  return await openKind(kind, { bytes, fileName, limits: { ...LIMITS, ...limits } });
}

/** The elements of each page: id, category and content. */
export async function pagesOf({ facts, page }: ParsedDocument): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let index = 0; index < facts.pageCount; index++) {
    const { title, elements } = await page(index);
    pages.push([title, ...elements.map(({ elementId, content }) => [elementId, content])]);
  }
  return pages;
}

/** The Markdown of each page. */
export async function markdownOf({ facts, page }: ParsedDocument): Promise<string[]> {
  const pages: string[] = [];
  for (let index = 0; index < facts.pageCount; index++) {
    const { elements } = await page(index);
    pages.push(renderPageMarkdown({
      elements: elements.map(({ elementId = "", ...element }) => ({ element_id: elementId, ...element })),
    }));
  }
  return pages;
}
