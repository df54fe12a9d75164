/** Results that are too long for a small context: the first part at once, the others on request. */
import { errorResult, type McpContent, type McpToolResult } from "../../agent/toolkit/mcp.ts";
import { type Part, splitText } from "./split.ts";

/** The most characters of a text in an answer. */
export const MAX_PART_CHARACTERS = 25_000;
/** The most characters of all results that are kept, and the most results. */
const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024;
const MAX_KEPT = 200;

interface Kept {
  readonly parts: readonly Part[];
  readonly characters: number;
}

/** Keeps the further parts of long results; the oldest are forgotten first. */
export class LongResults {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  /** The result with the first part of each text that is too long, and how to go on. */
  shorten(result: McpToolResult): McpToolResult {
    const isLong = result.content.some((item) => textOf(item).length > MAX_PART_CHARACTERS);
    const { structuredContent, ...rest } = result;
    const isStructureLong = structuredContent !== undefined &&
      JSON.stringify(structuredContent).length > MAX_PART_CHARACTERS;
    if (!isLong && !isStructureLong) return result;
    // What is structured stands in the texts as well, unless there are none.
    const content = result.content.some((item) => textOf(item) !== "")
      ? result.content
      : [...result.content, { type: "text", text: JSON.stringify(structuredContent) }];
    const shortened = content.flatMap((item) => this.#shortenItem(item));
    return { ...rest, ...(isStructureLong ? {} : { structuredContent }), content: shortened };
  }

  /** A further part. */
  read(handle: string, number: number): McpToolResult {
    const kept = this.#kept.get(handle);
    if (kept === undefined) {
      return errorResult(`No long result has the handle "${handle}" any more: call the tool again`);
    }
    const part = kept.parts[number - 1];
    if (part === undefined) {
      return errorResult(`No part ${number}: this result has ${kept.parts.length} parts, counted from 1`);
    }
    return { content: toContent(part, { handle, number, count: kept.parts.length }) };
  }

  #shortenItem(item: McpContent): McpContent[] {
    const text = textOf(item);
    if (text.length <= MAX_PART_CHARACTERS) return [item];
    const parts = splitText(text, MAX_PART_CHARACTERS);
    const [first] = parts;
    if (first === undefined) return [item];
    const handle = this.#keep({ parts, characters: text.length });
    return toContent(first, { handle, number: 1, count: parts.length });
  }

  #keep(result: Kept): string {
    const handle = crypto.randomUUID();
    this.#kept.set(handle, result);
    this.#characters += result.characters;
    for (const [oldest, { characters }] of this.#kept) {
      const isRoom = this.#characters <= MAX_KEPT_CHARACTERS && this.#kept.size <= MAX_KEPT;
      if (isRoom || oldest === handle) break;
      this.#kept.delete(oldest);
      this.#characters -= characters;
    }
    return handle;
  }
}

function textOf({ type, text }: McpContent): string {
  return type === "text" && typeof text === "string" ? text : "";
}

function toContent(
  { text, place }: Part,
  { handle, number, count }: { readonly handle: string; readonly number: number; readonly count: number },
): McpContent[] {
  const where = place === undefined ? "" : `, ${place}`;
  const next = number < count
    ? `: go on with read_result, handle "${handle}", part ${number + 1}`
    : ": the last one";
  return [{ type: "text", text }, { type: "text", text: `[part ${number} of ${count}${where}${next}]` }];
}
