/** What an element's `content` holds, by category (`finder.md`, Level 2 — 页面内容). */
import { isRecord } from "../protocol/errors.ts";
import { type List, readList } from "./list.ts";
import { toPlainText } from "./plain_text.ts";

/** An element as far as it can be rendered by itself. */
export type ElementContent =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "table";
    readonly headers: readonly string[];
    readonly rows: readonly (readonly string[])[];
  }
  | { readonly kind: "list"; readonly list: List }
  | { readonly kind: "code"; readonly language: string; readonly code: string }
  | { readonly kind: "chart"; readonly title: string; readonly dataSummary: string }
  | { readonly kind: "image"; readonly description: string; readonly url: string | undefined }
  | { readonly kind: "link"; readonly text: string; readonly url: string }
  | { readonly kind: "formula"; readonly expression: string }
  | SummaryOnly;

/** An element of another category, or whose content is not what its category promises. */
interface SummaryOnly {
  readonly kind: "summary";
  readonly category: string;
  readonly summary: string;
}

type Reader = (content: Record<string, unknown>) => ElementContent | undefined;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["heading", readHeading],
  ["text", readText],
  ["table", readTable],
  ["list", readListContent],
  ["code", readCode],
  ["chart", readChart],
  ["image", readImage],
  ["link", readLink],
  ["formula", readFormula],
]);

/** Reads an element of a stranger; what cannot be read leaves the element's summary. */
export function readContent(element: unknown): ElementContent {
  const { category, summary, content }: Record<string, unknown> = isRecord(element) ? element : {};
  const read = typeof category === "string" ? READERS.get(category) : undefined;
  const readable = isRecord(content) ? read?.(content) : undefined;
  return readable ?? {
    kind: "summary",
    category: textOf(category) ?? "element",
    summary: textOf(summary) ?? "",
  };
}

function readHeading(content: Record<string, unknown>): ElementContent | undefined {
  const text = textOf(content["text"]);
  const level = typeof content["level"] === "number" ? content["level"] : 1;
  return text === undefined ? undefined : { kind: "heading", level, text };
}

function readText(content: Record<string, unknown>): ElementContent | undefined {
  const text = textOf(content["text"]);
  return text === undefined ? undefined : { kind: "text", text };
}

function readTable({ headers, rows }: Record<string, unknown>): ElementContent | undefined {
  if (!Array.isArray(headers) || !Array.isArray(rows) || !rows.every(Array.isArray)) return undefined;
  if (headers.length === 0 && rows.every((row) => row.length === 0)) return undefined;
  return { kind: "table", headers: headers.map(toPlainText), rows: rows.map((row) => row.map(toPlainText)) };
}

function readListContent(content: Record<string, unknown>): ElementContent | undefined {
  const list = readList(content);
  return list === undefined ? undefined : { kind: "list", list };
}

function readCode(content: Record<string, unknown>): ElementContent | undefined {
  const code = textOf(content["code"]) ?? textOf(content["text"]);
  const language = textOf(content["language"]) ?? "";
  return code === undefined ? undefined : { kind: "code", language, code };
}

function readChart(content: Record<string, unknown>): ElementContent | undefined {
  const title = textOf(content["title"]);
  const dataSummary = textOf(content["data_summary"]);
  return title === undefined || dataSummary === undefined ? undefined : { kind: "chart", title, dataSummary };
}

function readImage(content: Record<string, unknown>): ElementContent | undefined {
  const url = textOf(content["url"]) ?? textOf(content["src"]);
  const description = textOf(content["alt"]) ?? textOf(content["description"]);
  if (url === undefined && description === undefined) return undefined;
  return { kind: "image", description: description ?? "", url };
}

function readLink(content: Record<string, unknown>): ElementContent | undefined {
  const text = textOf(content["text"]);
  const url = textOf(content["url"]) ?? textOf(content["href"]);
  return text === undefined || url === undefined ? undefined : { kind: "link", text, url };
}

function readFormula(content: Record<string, unknown>): ElementContent | undefined {
  const expression = textOf(content["expression"]);
  return expression === undefined ? undefined : { kind: "formula", expression };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
