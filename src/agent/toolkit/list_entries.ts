/** Entries of lists as every MCP client accepts them: most refuse a whole list for one member of a wrong type. */
import { isRecord } from "../../json/json.ts";
import { readBase64 } from "../../text/base64.ts";
import { escapeUnreadable, toBareLine } from "../../text/safe_text.ts";
import type { Json, McpContent } from "../../local_tools/mcp.ts";

/** The value as clients accept it; `undefined` leaves the member out. */
type Repair = (value: unknown) => unknown;
type Members = Readonly<Record<string, Repair>>;
/** An item whose members may be of any type. */
type AnyItem = Json & { readonly type: string };

export type EntryKind = "tool" | "resource" | "template" | "prompt";

/**
 * The entry without what clients refuse; `undefined` when it cannot stand in a list at all. An entry without a flaw stays
 * the same object.
 */
export function toListEntry<Entry extends object>(kind: EntryKind, entry: Entry): Entry | undefined {
  if (!fitsIntoList(entry)) return undefined;
  try {
    // The members that `Entry` demands are checked by whoever read it.
    return repair(mapTexts(entry, toShownText) as Json, MEMBERS[kind]) as Entry;
  } catch (error) {
    // It is nested so deeply that it can only just be written.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * What an entry shows to people, at any depth, such as the titles and descriptions in a schema: titles as one line, and
 * texts without invisible characters. All else is compared, and stays as it is.
 */
export function toShownText(text: string, key?: string): string {
  if (key === "title" || key === "enumNames") return toBareLine(text);
  return key === "description" ? escapeUnreadable(text) : text.toWellFormed();
}

/**
 * An item of content without what clients refuse. One that lacks what its type demands becomes its JSON, and one whose data
 * are no Base64 a text that says so.
 */
export function toContent(given: { readonly type: string }): McpContent {
  const item: AnyItem = given.type === "image" || given.type === "audio"
    ? withData({ ...given })
    : { ...given };
  const demanded = DEMANDED[item.type];
  if (demanded !== undefined && !demanded.every((name) => typeof item[name] === "string")) {
    return asText(item);
  }
  if (item.type !== "resource") return repair(item, MEMBERS.content) as Json & McpContent;
  const { resource } = item;
  if (!isRecord(resource) || typeof (resource["text"] ?? resource["blob"]) !== "string") return asText(item);
  const repaired = { ...item, resource: repair(toContents(resource), { mimeType: text, _meta: record }) };
  return repair(repaired, MEMBERS.content) as Json & McpContent;
}

/** The contents of a resource without what clients refuse. */
export function toContents(contents: Json): Json {
  const { blob, text: inner, ...rest } = contents;
  if (typeof blob !== "string" || typeof inner === "string") return contents;
  const read = readBase64(blob);
  if (read === undefined) return { ...rest, mimeType: "text/plain", text: noData(contents["mimeType"]) };
  return { mimeType: read.mimeType, ...rest, blob: read.base64 };
}

function withData(item: AnyItem): AnyItem {
  const { data, mimeType } = item;
  if (typeof data !== "string") return item;
  const read = readBase64(data);
  if (read === undefined) return { type: "text", text: noData(mimeType ?? item.type) };
  return { ...item, mimeType: mimeType ?? read.mimeType, data: read.base64 };
}

function noData(what: unknown): string {
  return `[${what ?? "data"}: cannot be shown, since its data are not valid Base64]`;
}

function asText(item: Json): McpContent {
  return { type: "text", text: JSON.stringify(item) };
}

const DEMANDED: Readonly<Partial<Record<string, readonly string[]>>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
};

/** The value with `�` in place of halves of characters, which clients in other languages cannot read at all. */
export function toWellFormed<Value>(value: Value): Value {
  return mapTexts(value, (text) => text.toWellFormed());
}

/** The value with all of its texts and names of members changed; `key` is the name of the member that a text is. */
export function mapTexts<Value>(value: Value, change: (text: string, key?: string) => string): Value {
  // Only texts change, and they stay texts.
  return mapped(value, change) as Value;
}

function mapped(value: unknown, change: (text: string, key?: string) => string, key?: string): unknown {
  if (typeof value === "string") return change(value, key);
  if (Array.isArray(value)) return replaceItems(value, (item) => mapped(item, change, key));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const replaced = entries.map(([key, member]) => [change(key), mapped(member, change, key)] as const);
  const isSame = replaced.every(([key, member], index) =>
    key === entries[index]?.[0] && member === entries[index]?.[1]
  );
  return isSame ? value : Object.fromEntries(replaced);
}

const text: Repair = (value) => typeof value === "string" ? value : undefined;
/** The name of a resource, which goes by its URI. */
const line: Repair = (value) => typeof value === "string" ? toBareLine(value) : undefined;
const record: Repair = (value) => isRecord(value) ? value : undefined;
const size: Repair = (value) => Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined;
const priority: Repair = (value) => typeof value === "number" && value >= 0 ? Math.min(value, 1) : undefined;

function oneOf(...words: readonly unknown[]): Repair {
  return (value) => words.includes(value) ? value : undefined;
}

function listOf(item: Repair): Repair {
  return (value) => Array.isArray(value) ? replaceItems(value, item) : undefined;
}

function objectOf(members: Members, required: readonly string[] = []): Repair {
  return (value) => {
    if (!isRecord(value)) return undefined;
    const repaired = repair(value, members);
    return required.every((name) => repaired[name] !== undefined) ? repaired : undefined;
  };
}

/** A time with its offset from UTC. Of a date alone, the day begins in UTC. */
const time: Repair = (value) => {
  const [, date, rest] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)))?$/
    .exec(String(value)) ?? [];
  if (date === undefined || toIsoDate(`${date}T00:00:00Z`) !== date) return undefined;
  if (rest === undefined) return `${date}T00:00:00Z`;
  return toIsoDate(`${date}T${rest}`) === undefined ? undefined : value;
};

function toIsoDate(value: string): string | undefined {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
}

/** Some clients know no `true` and `false` as schemas. */
const property: Repair = (schema) => schema === true ? {} : schema === false ? { not: {} } : record(schema);

const properties: Repair = (value) => {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value);
  const repaired = entries.map(([name, schema]) => [name, property(schema)] as const);
  if (repaired.every(([, schema], index) => schema === entries[index]?.[1])) return value;
  return Object.fromEntries(repaired.filter(([, schema]) => schema !== undefined));
};

const schema = objectOf({ properties, required: listOf(text) });
const annotations = objectOf({
  audience: listOf(oneOf("user", "assistant")),
  priority,
  lastModified: time,
});
const icons = listOf(
  objectOf({ src: text, mimeType: text, sizes: listOf(text), theme: oneOf("light", "dark") }, ["src"]),
);
const described: Members = { title: text, description: text, icons, _meta: record };
const content: Members = { ...described, name: line, mime_type: line, mimeType: line, size, annotations };

const MEMBERS: Readonly<Record<EntryKind | "content", Members>> = {
  content,
  tool: { ...described, inputSchema: schema, outputSchema: schema },
  resource: content,
  template: content,
  prompt: described,
};

function repair(entry: Json, members: Members): Json {
  const checked = Object.entries(members).filter(([name]) => entry[name] !== undefined)
    .map(([name, toRepaired]) => [name, toRepaired(entry[name])] as const);
  const changed = checked.filter(([name, value]) => value !== entry[name]);
  if (changed.length === 0) return entry;
  const names = new Set(changed.filter(([, value]) => value === undefined).map(([name]) => name));
  const kept = Object.entries(entry).filter(([name]) => !names.has(name));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(changed.filter(([name]) => !names.has(name))) };
}

/** The same list when no item changes; items that become `undefined` are left out. */
function replaceItems(items: readonly unknown[], replace: Repair): readonly unknown[] {
  const replaced = items.map(replace);
  if (replaced.every((item, index) => item === items[index])) return items;
  return replaced.filter((item) => item !== undefined);
}

/** The most characters of the JSON of one entry of a list. */
const MAX_ENTRY_LENGTH = 256 * 1024;

/**
 * Whether an entry can stand in a list: one that is huge, or nested so deeply that it cannot be written, would cost all
 * others.
 */
export function fitsIntoList(entry: unknown): boolean {
  try {
    return JSON.stringify(entry).length <= MAX_ENTRY_LENGTH;
  } catch {
    return false;
  }
}
