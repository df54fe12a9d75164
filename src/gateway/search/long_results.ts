/** Results that are too long for a small context: the first part at once, the others on request. */
import { errorResult, type McpContent, type McpToolResult } from "../../local_tools/mcp.ts";
import type { ToolContext } from "../../agent/toolkit/tool_context.ts";
import { cutWithin } from "../../local_tools/answer_parts.ts";
import { parseJson } from "../../json/json.ts";

/** The most characters of all texts in an answer, and of `structuredContent`. */
export const MAX_PART_CHARACTERS = 25_000;
/** The most characters of all results that are kept, and the most results. */
const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024;
const MAX_KEPT = 200;
/** How long a result is kept after it was read last, in milliseconds. */
const MAX_AGE_MS = 30 * 60_000;

type Page = readonly McpContent[];

interface Kept {
  readonly client: ToolContext["client"];
  readonly pages: readonly Page[];
  readonly characters: number;
  readonly readAtMs: number;
}

/**
 * Keeps the further parts of long results. When there are too many, those of the client that has the most are forgotten,
 * the one first that was not read for the longest time.
 */
export class LongResults {
  readonly #now: () => number;
  /** In the order in which they were read last. */
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  /** @param options `now`: the time in milliseconds. */
  constructor({ now = Date.now }: { readonly now?: () => number } = {}) {
    this.#now = now;
  }

  /** The result with the first part of its texts, if they are too long, and how to go on. */
  shorten(result: McpToolResult, { client }: Pick<ToolContext, "client"> = {}): McpToolResult {
    const { structuredContent, ...rest } = result;
    const structure = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
    const isStructureLong = structure.length > MAX_PART_CHARACTERS;
    const characters = result.content.reduce((sum, item) => sum + textOf(item).length, 0);
    if (characters <= MAX_PART_CHARACTERS && !isStructureLong) return result;

    const isMissing = isStructureLong && !isTold(structuredContent, result.content);
    const items = isMissing
      ? [...result.content, { type: "text" as const, text: structure }]
      : result.content;
    const pages = toPages(items);
    return {
      ...rest,
      ...(isStructureLong ? {} : { structuredContent }),
      content: toContent(pages, { number: 1, handle: pages.length > 1 ? this.#keep(pages, client) : "" }),
    };
  }

  read(handle: string, number: number): McpToolResult {
    this.#forgetOld();
    const kept = this.#kept.get(handle);
    if (kept === undefined) {
      return errorResult(`No long result has the handle "${handle}" any more: call the tool again`);
    }
    this.#kept.delete(handle);
    this.#kept.set(handle, { ...kept, readAtMs: this.#now() });
    if (kept.pages[number - 1] === undefined) {
      return errorResult(`No part ${number}: this result has ${kept.pages.length} parts, counted from 1`);
    }
    return { content: toContent(kept.pages, { number, handle }) };
  }

  #keep(pages: readonly Page[], client: ToolContext["client"]): string {
    this.#forgetOld();
    const handle = crypto.randomUUID();
    const characters = pages.flat()
      .reduce((sum, item) => sum + JSON.stringify(item).length, 0);
    this.#kept.set(handle, { client, pages, characters, readAtMs: this.#now() });
    this.#characters += characters;
    while (this.#characters > MAX_KEPT_CHARACTERS || this.#kept.size > MAX_KEPT) {
      const oldest = this.#oldestOfGreediest();
      if (oldest === undefined || oldest === handle) break;
      this.#forget(oldest);
    }
    return handle;
  }

  /** By what fills up: characters, or the number of results. */
  #oldestOfGreediest(): string | undefined {
    const isLong = this.#characters > MAX_KEPT_CHARACTERS;
    const sizes = new Map<ToolContext["client"], number>();
    for (const { client, characters } of this.#kept.values()) {
      sizes.set(client, (sizes.get(client) ?? 0) + (isLong ? characters : 1));
    }
    const most = Math.max(...sizes.values());
    return [...this.#kept].find(([, { client }]) => sizes.get(client) === most)?.[0];
  }

  #forgetOld(): void {
    for (const [handle, { readAtMs }] of this.#kept) {
      if (this.#now() - readAtMs <= MAX_AGE_MS) break;
      this.#forget(handle);
    }
  }

  #forget(handle: string): void {
    this.#characters -= this.#kept.get(handle)?.characters ?? 0;
    this.#kept.delete(handle);
  }
}

/** The text of an item that is a text, or a resource with a text. */
function textOf({ text, resource }: McpContent): string {
  return text ?? resource?.text ?? "";
}

function withText(item: McpContent, text: string): McpContent {
  if (item.type === "resource" && item.resource.text !== undefined) {
    return { ...item, resource: { ...item.resource, text } };
  }
  return item.type === "text" ? { ...item, text } : item;
}

/** The most levels of a structure that are looked for in the content: each one is written as JSON anew. */
const MAX_TOLD_DEPTH = 2;

/**
 * Whether the content tells all of a structure. Many MCP servers write a result twice, the structure for programs and the
 * content for models: as the same JSON, as a member that is the text itself, or as a list with an item for each item of
 * the content.
 */
function isTold(structure: unknown, content: readonly McpContent[]): boolean {
  const told = new Set(content.flatMap(tellingsOf));
  const isIn = (value: unknown, depth: number): boolean => {
    if (told.has(JSON.stringify(value))) return true;
    if (depth === MAX_TOLD_DEPTH || typeof value !== "object" || value === null) return false;
    const members = Object.values(value);
    return members.length > 0 && members.every((member) => isIn(member, depth + 1));
  };
  return isIn(structure, 0);
}

/** The values that an item of the content tells, as JSON without spaces. */
function tellingsOf(item: McpContent): string[] {
  const text = textOf(item);
  const parsed = text === "" ? undefined : parseJson(text);
  return [item, text, item.data, parsed].filter((value) => value !== undefined && value !== "")
    .map((value) => JSON.stringify(value));
}

/** The most characters of a text that makes room for itself before a longer one. */
const MAX_LEAD_CHARACTERS = 2_500;

/** As much on each page as fits. What is no text, such as a picture, stands on the first one, so that nobody misses it. */
function toPages(items: readonly McpContent[]): Page[] {
  const first: McpContent[] = [];
  const pages = [first];
  let size = 0;
  for (const item of items) {
    if (textOf(item) === "") {
      first.push(item);
      continue;
    }
    // A short text, such as "3,000 rows:", stands on one page with what follows.
    const room = MAX_PART_CHARACTERS - (size <= MAX_LEAD_CHARACTERS ? size : 0);
    for (const text of splitText(textOf(item), room)) {
      if (size > 0 && size + text.length > MAX_PART_CHARACTERS) {
        pages.push([]);
        size = 0;
      }
      pages.at(-1)?.push(withText(item, text));
      size += text.length;
    }
  }
  return pages;
}

/** Parts of at most `max` characters: cut at the last line that fits, and in a line that is too long between characters. */
function splitText(text: string, max: number): string[] {
  const parts: string[] = [];
  for (let offset = 0; offset < text.length; offset += parts.at(-1)?.length ?? 0) {
    const end = cutWithin(text, { start: offset, limit: offset + max });
    const part = text.slice(offset, end);
    const line = part.lastIndexOf("\n") + 1;
    parts.push(end < text.length && line > max / 2 ? part.slice(0, line) : part);
  }
  return parts;
}

function toContent(
  pages: readonly Page[],
  { number, handle }: { readonly number: number; readonly handle: string },
): McpContent[] {
  const content = pages[number - 1] ?? [];
  if (pages.length === 1) return [...content];
  const next = number < pages.length
    ? `: go on with read_result, handle "${handle}", part ${number + 1}`
    : ": the last one";
  return [...content, { type: "text", text: `[part ${number} of ${pages.length}${next}]` }];
}
