/** What a tool or a resource returned, as text. Pure: values in, text out. */
import { isRecord, parseJson } from "../../json.ts";
import { printableLine } from "../../terminal/safe_text.ts";

export function contentsText(
  result: { readonly content: readonly unknown[]; readonly structuredContent?: unknown },
): string {
  if (result.content.length > 0) return result.content.map(contentText).join("\n");
  return isRecord(result.structuredContent) || Array.isArray(result.structuredContent)
    ? JSON.stringify(result.structuredContent, null, 2)
    : "";
}

export function resourceText(contents: readonly unknown[]): string {
  return contents.map((content) => renderedText(content) ?? contentText(content)).join("\n");
}

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

/** What is outside of strings and white space: a sign, or a number, `true`, `false`, `null`. */
const TOKENS = /[{}[\]:,]|[^\s{}[\]:,]+/g;
const INDENT = "  ";
/** What is deeper is indented no further: the text grows by a constant factor at most. */
const MAX_INDENT = 20;

/**
 * Puts each member and element of JSON that can be read on a line of its own. Numbers, strings and repeated names stay
 * as they are written, which reading and writing them again would not promise.
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

/** Behind the quote that ends a string: one with an even number of backslashes before it. */
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
