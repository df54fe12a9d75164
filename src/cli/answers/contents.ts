/** What a tool or a resource returned, as text. Pure: values in, text out. */
import { isRecord, parseJson } from "../../json/json.ts";
import { printableLine } from "../../text/safe_text.ts";
import type { CallProgress } from "../../protocol/progress.ts";

/** The text of a tool result: its text items unchanged, other items by type and size. */
export function contentsText(
  result: { readonly content: readonly unknown[]; readonly structuredContent?: unknown },
): string {
  if (result.content.length > 0) return result.content.map(contentText).join("\n");
  return isRecord(result.structuredContent) || Array.isArray(result.structuredContent)
    ? JSON.stringify(result.structuredContent, null, 2)
    : "";
}

/** The text of a read: the Markdown or plain text if the URI asked for it, otherwise the contents unchanged. */
export function resourceText(contents: readonly unknown[]): string {
  return contents.map((content) => renderedText(content) ?? contentText(content)).join("\n");
}

/** The text of a read for a terminal: as {@linkcode resourceText}, with JSON indented. */
export function readableResourceText(contents: readonly unknown[]): string {
  return contents.map((content) => renderedText(content) ?? indentedText(content) ?? contentText(content))
    .join("\n");
}

function indentedText(content: unknown): string | undefined {
  const text = isRecord(content) ? content["text"] : undefined;
  if (typeof text !== "string") return undefined;
  const value = parseJson(text);
  return isRecord(value) || Array.isArray(value) ? indentJson(text) : undefined;
}

function renderedText(content: unknown): string | undefined {
  const text = isRecord(content) ? content["text"] : undefined;
  const value = typeof text === "string" ? parseJson(text) : undefined;
  if (!isRecord(value)) return undefined;
  const { content_markdown: markdown, content_text: plain } = value;
  return [markdown, plain].find((rendered) => typeof rendered === "string");
}

/** The text of one item of a tool result or of a resource, of any shape. */
function contentText(content: unknown): string {
  if (!isRecord(content)) return JSON.stringify(content) ?? "";
  const { type, text, data, blob, uri, mimeType, resource, item } = content;
  if (typeof text === "string") return text;
  const base64 = data ?? blob;
  if (typeof base64 === "string") {
    const what = `${type ?? uri ?? "blob"}: ${mimeType ?? "binary"}`;
    return `[${printableLine(what)}, ${decodedBytes(base64)} bytes]`;
  }
  if (isRecord(resource)) return contentText(resource);
  if (type === "unknown") return JSON.stringify(item) ?? "";
  return typeof uri === "string" ? `[${printableLine(uri)}]` : JSON.stringify(content);
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length - padding) * 3 / 4);
}

/** Tokens outside of strings: punctuation, numbers, `true`, `false`, `null`. */
const TOKENS = /[{}[\]:,]|[^\s{}[\]:,]+/g;
const INDENT = "  ";
/** Deeper levels have the same indent, so that the text grows by a constant factor at most. */
const MAX_INDENT = 20;

/**
 * Puts each member and element of valid JSON on its own line. It keeps numbers, strings and repeated names as they are
 * written, which `JSON.parse` and `JSON.stringify` would not.
 */
export function indentJson(json: string): string {
  let depth = 0;
  let isEmpty = false;
  const pieces: string[] = [];
  const newLine = () => pieces.push("\n", INDENT.repeat(Math.min(depth, MAX_INDENT)));
  for (const token of tokensOf(json)) {
    const closes = token === "}" || token === "]";
    if (closes) depth--;
    if (closes !== isEmpty) newLine();
    isEmpty = token === "{" || token === "[";
    pieces.push(token === ":" ? ": " : token);
    if (isEmpty) depth++;
    else if (token === ",") newLine();
  }
  return pieces.join("");
}

function* tokensOf(json: string): Generator<string> {
  let start = 0;
  while (start < json.length) {
    const quote = json.indexOf('"', start);
    const plain = json.slice(start, quote < 0 ? json.length : quote);
    for (const [token] of plain.matchAll(TOKENS)) yield token;
    if (quote < 0) return;
    start = endOfString(json, quote);
    yield json.slice(quote, start);
  }
}

/** The index after the closing quote of a string: the first with an even number of backslashes before it. */
function endOfString(json: string, start: number): number {
  let quote = start;
  while (true) {
    quote = json.indexOf('"', quote + 1);
    if (quote < 0) return json.length;
    let slash = quote;
    while (json[slash - 1] === "\\") slash--;
    if ((quote - slash) % 2 === 0) return quote + 1;
  }
}

/** `30 % (3 of 10)  Compiling`; without a total only the number. The line may contain control characters of the tool. */
export function progressText({ progress, total, message }: CallProgress): string {
  const text = message === undefined || message === "" ? "" : `  ${message}`;
  if (total === undefined) return `${toShortNumber(progress)}${text}`;
  const percent = Math.min(100, Math.max(0, Math.floor(100 * progress / total)));
  const numbers = total === 100 ? "" : ` (${toShortNumber(progress)} of ${toShortNumber(total)})`;
  return `${percent} %${numbers}${text}`;
}

function toShortNumber(value: number): string {
  return Number.isInteger(value) ? `${value}` : `${Math.round(value * 100) / 100}`;
}
