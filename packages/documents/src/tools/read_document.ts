/** What `read_document` answers: pages, an element, an outline, or what is around some words. */
import {
  ArgumentError,
  countOf,
  MAX_ROOM,
  type McpToolResult,
  type ReadableDocument,
  readableOf,
  type Reading,
  roomOf,
  showDocument,
  textOf,
  titleOf,
  toFence,
  toSeenLine,
} from "@a2c-smcp/sdk/base";
import type { DocumentCatalogue } from "../catalogue.ts";
import type { FolderFile } from "../folder/tree.ts";
import { TOOL_PATIENCE_MS } from "../search/search.ts";
import { passagesAround } from "./passages.ts";

/** The most pages that are read for words, and the most characters of what is around them on each. */
const MAX_SEARCHED_PAGES = 5;
const MAX_AROUND = 4_000;

export interface ReadingWish extends Reading {
  readonly file: FolderFile;
  /** The name of the document, as it is shown. */
  readonly name: string;
  readonly around: string | undefined;
  readonly signal: AbortSignal;
}

export async function readDocument(catalogue: DocumentCatalogue, wish: ReadingWish): Promise<McpToolResult> {
  const { file: { docRef }, around, isOutline, signal } = wish;
  const readable = readableOf(catalogue, docRef, toExchange(signal));
  if (around !== undefined && !isOutline) return await showAround(catalogue, readable, { ...wish, around });
  // The model has just named the document.
  return await showDocument(readable, wish, { format: "markdown", headOf: () => "" });
}

/** A request of a tool. Its failure is told in the answer. */
export function toExchange(signal: AbortSignal) {
  return { request: { signal, sessionId: undefined, authInfo: undefined }, report: () => {} };
}

/** What is around some words: in an element, on some pages, or where the search finds them. */
async function showAround(
  catalogue: DocumentCatalogue,
  readable: ReadableDocument,
  { file: { docRef }, name, pages, element, around, signal }: ReadingWish & { readonly around: string },
): Promise<McpToolResult> {
  const parts: string[] = [];
  let left = MAX_ROOM;
  const add = (title: string, markdown: string) => {
    const { text, more } = passagesAround(markdown, around, Math.min(MAX_AROUND, left));
    if (text === "") return;
    const rest = more === 0 ? "" : `\n\n[${countOf(more, "more line")} with as many of the words]`;
    parts.push(`## ${title}\n\n${toFence(text)}${rest}`);
    left -= roomOf(text);
  };
  if (element !== undefined) {
    add(`Element ${element}`, textOf(await readable.element(element, "markdown"), "markdown"));
  } else {
    const document = await readable.metadata();
    const found = pages === undefined
      ? await catalogue.search(around, {
        docRef,
        limit: MAX_SEARCHED_PAGES,
        patienceMs: TOOL_PATIENCE_MS,
        signal,
      })
      : undefined;
    const chosen = pages ?? found?.hits.map(({ page }) => page) ?? [];
    // It says why it cannot be read.
    if (chosen.length === 0) await readable.page(0, "markdown");
    for (const page of chosen) {
      if (left < MAX_AROUND) break;
      const read = await readable.page(page, "markdown");
      add(titleOf(read, page, document), textOf(read, "markdown"));
    }
    const rest = (found?.total ?? 0) - chosen.length;
    if (rest > 0) {
      parts.push(`[${countOf(rest, "more page")}: use find_documents with "document", or other words]`);
    }
    if (found?.notice !== undefined) {
      if (parts.length === 0) parts.push("Nothing found so far. Name pages to look at them now.");
      parts.push(`[${found.notice}]`);
    }
  }
  if (parts.length === 0) {
    throw new ArgumentError(
      `${name} has none of the words ${
        toSeenLine(around)
      } here. Try other words, or read its outline with {"outline": true}`,
    );
  }
  return { content: [{ type: "text", text: parts.join("\n\n") }] };
}
