/** What a tool or a resource returned, as text. Pure: values in, text out. */
import { isDeeperThan, isRecord, MAX_REQUEST_DEPTH, parseJson } from "../../json/json.ts";
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
  const isShown = (isRecord(value) || Array.isArray(value)) && !isDeeperThan(value, MAX_REQUEST_DEPTH);
  return isShown ? JSON.stringify(value, null, 2) : undefined;
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
