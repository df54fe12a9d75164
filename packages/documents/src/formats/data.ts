/** JSON and YAML: an outline of the top members, with lists of records as tables. */
import {
  type Document,
  isCollection,
  isNode,
  isPair,
  isScalar,
  parseAllDocuments,
  type Scalar,
  visit,
} from "yaml";
import type { TableCell } from "@a2c-smcp/sdk";
import { isRecord } from "../basics.ts";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { decodeText } from "./decode_text.ts";
import type { ParsedDocument, ParseInput } from "./format.ts";
import { extensionOf } from "../file_name.ts";
import { divide, documentOf, toCodeElements } from "./sections.ts";

/** The most columns of a table; lists of wider records are shown as they are written. */
const MAX_COLUMNS = 40;
/** The most aliases of a YAML file that are followed. */
const MAX_ALIASES = 100;
const MAX_TAGS = 20;
/** Numbers that JavaScript may write in another way. */
const CHANGED_NUMBER = /[\d.]{17}|\.\d*0(?!\d)|\d[eE]|-0(?!\d)/;
/** A number that JavaScript would change, as it is written; TypeScript does not know it yet. */
interface RawNumber {
  readonly rawJSON: string;
}
const { rawJSON, isRawJSON } = JSON as JSON & {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

type Language = "json" | "jsonl" | "yaml";

function languageOf(fileName: string): Language {
  const extension = extensionOf(fileName);
  return /^ya?ml$/.test(extension) ? "yaml" : /^(?:jsonl|ndjson)$/.test(extension) ? "jsonl" : "json";
}

/** Opens a JSON or YAML file. Its pages are parts of about the same length. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const { text, losses: textLosses } = decodeText(bytes);
  const language = languageOf(fileName);
  const { values, problem, hasComments = false, tags = [] } = read(text, language);
  // Lines of nested values are better read as they are.
  const isWritten = problem !== undefined || language === "jsonl" && columnsOf(values[0]) === undefined;
  const elements = !isWritten
    ? values.flatMap((value) => [...outline(value, limits.maxDepth)])
    : [...toCodeElements(text, language)];
  const pages = divide(elements, { title: fileName });
  const losses: string[] = [];
  if (problem !== undefined) {
    losses.push(`It is no valid ${language.toUpperCase()} and shown as it is written: ${problem}`);
  }
  if (hasComments) losses.push("Comments are not shown");
  if (tags.length > 0) losses.push(`Tags are not shown: ${tags.join(", ")}`);
  losses.push(...textLosses);
  const headings = values.flatMap((value) =>
    isRecordOfMembers(value) ? Object.keys(value) : columnsOf(value) ?? []
  ).slice(0, 200);
  return documentOf(pages, { elements, title: undefined, headings, opening: openingOf(values), losses });
}

interface DataReading {
  readonly values: readonly unknown[];
  readonly problem?: string | undefined;
  readonly hasComments?: boolean;
  /** The tags that give values a meaning of a program's own, such as `!Ref`. */
  readonly tags?: readonly string[];
}

function read(text: string, language: Language): DataReading {
  try {
    if (language === "json") return { values: [parseJson(text)] };
    if (language === "jsonl") {
      return { values: [text.split("\n").filter((line) => line.trim() !== "").map(parseJson)] };
    }
    const documents = parseAllDocuments(text, { logLevel: "silent" });
    const values: unknown[] = [];
    // A file of nothing but comments has no document.
    let hasComments = documents.length === 0 && text.trim() !== "";
    const tags = new Set<string>();
    for (const document of Array.isArray(documents) ? documents : []) {
      const [error] = document.errors;
      if (error !== undefined) return { values: [], problem: firstLine(error.message) };
      const beside = besideValues(document);
      hasComments ||= beside.hasComments;
      for (const tag of beside.tags) if (tags.size < MAX_TAGS) tags.add(tag);
      values.push(document.toJS({ maxAliasCount: MAX_ALIASES }));
    }
    return { values, hasComments, tags: [...tags] };
  } catch (error) {
    return { values: [], problem: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

/** Parses JSON. Numbers that JavaScript would change stay as they are written. */
function parseJson(text: string): unknown {
  if (!CHANGED_NUMBER.test(text)) return JSON.parse(text);
  return JSON.parse(
    text,
    (_, value: unknown, { source = "" }: { readonly source?: string } = {}) =>
      typeof value === "number" && String(value) !== source ? rawJSON(source) : value,
  );
}

/** A scalar of YAML, as it is written where its value would be written in another way. */
function writtenValue({ value, source = "" }: Scalar, isKey: boolean): unknown {
  const isChanged = typeof value === "number"
    ? String(value) !== source && !/\.(?:inf|nan)$/i.test(source)
    : value instanceof Date || typeof value === "boolean" && !/^(?:true|false)$/i.test(source);
  if (!isChanged) return value;
  return !isKey && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(source) ? rawJSON(source) : source;
}

/** What a YAML document has beside its values, of which those that would change become what is written. */
function besideValues(document: Document.Parsed): Required<Pick<DataReading, "hasComments" | "tags">> {
  let hasComments = (document.commentBefore ?? document.comment ?? "") !== "";
  const tags = new Set<string>();
  visit(document, (key, node) => {
    if (isPair(node) && isCollection(node.key)) {
      visit(node.key, { Scalar: (_, scalar) => void (scalar.value = writtenValue(scalar, true)) });
    }
    if (!isNode(node)) return;
    if (isScalar(node)) node.value = writtenValue(node, key === "key");
    hasComments ||= (node.comment ?? node.commentBefore ?? "") !== "";
    if (node.tag?.startsWith("!")) tags.add(node.tag);
  });
  return { hasComments, tags: [...tags] };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.replace(/[:.]$/, "") ?? "";
}

/** A text member that says what the file is. */
function openingOf(values: readonly unknown[]): string {
  const members = values.flatMap((value) =>
    isRecord(value) ? ["title", "name", "description", "summary"].map((key) => value[key]) : []
  );
  return members.filter((member) => typeof member === "string").join("\n").slice(0, 4_000).toWellFormed();
}

function* outline(value: unknown, maxDepth: number): Generator<DocumentElement, void> {
  if (!isRecordOfMembers(value)) return yield* show(value, maxDepth);
  for (const [key, member] of Object.entries(value)) {
    yield { category: "heading", content: { level: 2, text: key } };
    yield* show(member, maxDepth);
  }
}

function* show(value: unknown, maxDepth: number): Generator<DocumentElement, void> {
  const columns = columnsOf(value);
  if (columns !== undefined && Array.isArray(value)) {
    const rows = value.map((record) => columns.map((key) => cellOf(record[key])));
    const content = { headers: columns, rows, total_rows: rows.length, first_row: 1 };
    return yield { category: "table", content };
  }
  if (isNested(value)) {
    return yield* toCodeElements(toJson(value, maxDepth), "json");
  }
  yield { category: "text", content: { text: isRawJSON(value) ? value.rawJSON : String(value) } };
}

function toJson(value: unknown, maxDepth: number): string {
  return JSON.stringify(
    shallow(value, maxDepth),
    (_, member: unknown) => withoutInfinity(member),
    2,
  );
}

/** JSON has no form for infinity and for what is no number. */
function withoutInfinity(value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** What is nested more deeply is left out, because writing it would exceed the stack. */
function shallow(value: unknown, depth: number): unknown {
  if (!isNested(value)) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.map((item) => shallow(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shallow(member, depth - 1)]));
}

function isRecordOfMembers(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !isRawJSON(value);
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isRawJSON(value);
}

/** The columns of a list of records with scalar members; `undefined` for other values. */
function columnsOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isRecordOfMembers)) return undefined;
  const columns = new Set<string>();
  for (const record of value) {
    for (const [key, member] of Object.entries(record)) {
      if (isNested(member)) return undefined;
      columns.add(key);
    }
    if (columns.size > MAX_COLUMNS) return undefined;
  }
  return [...columns];
}

function cellOf(member: unknown): TableCell {
  const value = withoutInfinity(member);
  if (isRawJSON(value)) return value.rawJSON;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
