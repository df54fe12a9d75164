/** What files say of themselves, without what programs write by themselves. */
import type { AboutFile } from "./format.ts";

/** Libraries that name themselves as the author; the dates beside such a name are those of their template. */
const LIBRARY = /^(?:python-(?:docx|pptx)|openpyxl|xlsxwriter|apache poi|docx4j|phpoffice|un-?named)\b/i;

/** What is known of a file; texts are trimmed, dates brought into ISO 8601, and what is empty or no text is left out. */
export function aboutFile(said: { readonly [Member in keyof AboutFile]?: unknown }): AboutFile {
  const about: Record<string, string> = {};
  const isTemplate = LIBRARY.test(`${said.author ?? ""}`.trim());
  for (const [member, value] of Object.entries(said)) {
    const isDate = member === "created" || member === "changed";
    if (isTemplate && (isDate || member === "author")) continue;
    const text = isDate ? isoDate(value) : typeof value === "string" ? value.trim() : "";
    if (text !== undefined && text !== "") about[member] = text;
  }
  return about;
}

/** A date in ISO 8601, to the day where its time or its zone is not given; `undefined` when it is none. */
function isoDate(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : wholeSeconds(value);
  const text = typeof value === "string" ? value.trim() : "";
  // Of a year alone, or with a month, nobody has named the day.
  if (/^\d{4}(?:-\d\d){0,2}$/.test(text)) return text;
  const date = new Date(text);
  if (text === "" || Number.isNaN(date.getTime())) return undefined;
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return text.replace(/\.\d+/, "");
  if (/\d:\d.*(?:[A-Z]{3}|[+-]\d\d:?\d\d)/.test(text)) return wholeSeconds(date);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

function wholeSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
