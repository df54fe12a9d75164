/**
 * `search` and `fetch` as the connectors and the deep research of ChatGPT expect them
 * (<https://platform.openai.com/docs/mcp>): each answers one JSON text.
 */
import { escapeUnreadable, toBareLine } from "../text/safe_text.ts";
import { partOf, roomOf } from "./answer_parts.ts";
import { type ReadableDocument, textOf, titleOf } from "./document_answers.ts";
import type { Json, McpToolResult } from "./mcp.ts";

export const CONNECTOR_TOOL_NAMES = ["search", "fetch"] as const;

/** Whether it is a client of OpenAI, which uses `search` and `fetch`: ChatGPT, and the API with its deep research. */
export function isOfOpenAi(name: string | undefined): boolean {
  return name !== undefined && /^(?:openai-mcp|chatgpt)\b/i.test(name);
}

/** What `search` takes and answers. */
export const SEARCH_SHAPE = {
  name: "search",
  properties: { query: { type: "string", description: "What to look for, in a few words." } },
  required: ["query"],
  outputSchema: {
    type: "object",
    properties: { results: { type: "array", items: { type: "object" } } },
    required: ["results"],
  },
} as const;

/** What `fetch` takes and answers. */
export const FETCH_SHAPE = {
  name: "fetch",
  properties: { id: { type: "string", description: "The id of a result of search." } },
  required: ["id"],
  outputSchema: {
    type: "object",
    properties: {
      id: { type: "string" },
      title: { type: "string" },
      text: { type: "string" },
      url: { type: "string" },
      metadata: { type: "object" },
    },
    required: ["id", "title", "text", "url"],
  },
} as const;

/** One text that is the JSON of the value, and the value itself. */
export function connectorResult(value: Json, isFailed = false): McpToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value,
    ...(isFailed ? { isError: true } : {}),
  };
}

/** Pages of a document one after the other, as much as there is room for, or one element. */
export async function fetchDocument(
  readable: ReadableDocument,
  { id, idOf, start = 0, element, facts, maxRoom }: {
    readonly id: string;
    /** The id of the document, or of one of its pages. */
    readonly idOf: (page?: number) => string;
    /** The first page. */
    readonly start?: number | undefined;
    readonly element?: string | undefined;
    /** Members of `metadata`. */
    readonly facts?: Readonly<Record<string, string>>;
    readonly maxRoom: number;
  },
): Promise<Json> {
  const document = await readable.metadata();
  const { title, file_type, page_count, last_modified } = document;
  const metadata = {
    ...facts,
    type: "document",
    file_type,
    pages: String(page_count),
    ...(last_modified === undefined ? {} : { last_modified }),
  };
  const base = { id, title: toBareLine(title), url: idOf() };
  if (element !== undefined) {
    const text = textOf(await readable.element(element, "markdown"), "markdown");
    return { ...base, text: fittingPart(text, maxRoom).part, metadata };
  }
  const parts: string[] = [];
  let left = maxRoom;
  for (let page = start; page < page_count; page++) {
    const read = await readable.page(page, "markdown");
    const text = `## ${titleOf(read, page, document)}\n\n${textOf(read, "markdown")}`;
    if (page > start && roomOf(text) > left) {
      const next = idOf(page);
      parts.push(`[Pages from ${page} on follow: fetch ${next}]`);
      return { ...base, text: parts.join("\n\n"), metadata: { ...metadata, next } };
    }
    const { part, room } = fittingPart(text, maxRoom);
    parts.push(part);
    left -= room;
  }
  return { ...base, text: parts.join("\n\n"), metadata };
}

/** The beginning of a text, with a note where something is missing. */
export function fittingPart(
  text: string,
  maxRoom: number,
): { readonly part: string; readonly room: number; readonly isCut: boolean } {
  const shown = escapeUnreadable(text);
  const { part, end, room } = partOf(shown, { offset: 0, max: maxRoom });
  if (end === shown.length) return { part, room, isCut: false };
  return { part: `${part}\n\n[${shown.length - end} more characters are left out]`, room, isCut: true };
}
