/** Converts values of peers to plain text. */
import { isRecord } from "../json/json.ts";
import type { FormulaContent } from "../protocol/dpe_content.ts";
import { shorten } from "../text/text.ts";

/** The most characters of a summary, which may be the notes of a slide. */
const MAX_SUMMARY_LENGTH = 4_000;

/** A string unchanged, a number or boolean as written, an empty string for a missing value, and other values as JSON. */
export function toPlainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // The value is cyclic, or nested too deeply.
    return "";
  }
}

/** The lines of `text` joined by single spaces. */
export function toOneLine(text: string): string {
  return text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim()).filter((line) => line !== "").join(" ");
}

/** A formula, behind the cells that it is in where its document says them: `D2: =C2*2`, `D2:D9: =C2*2, filled down`. */
export function formulaText({ expression, cell, cells }: FormulaContent): string {
  if (typeof cells !== "string") return typeof cell === "string" ? `${cell}: ${expression}` : expression;
  return `${cells}: ${expression}, filled ${/^([A-Z]+)\d+:\1\d+$/.test(cells) ? "down" : "in"}`;
}

/** The fields of a form with their values: `Name: Ada; Colour: red`. */
function fieldsText(fields: unknown): string {
  const texts = (Array.isArray(fields) ? fields : []).flatMap((field) => {
    const { label, name, value }: Record<string, unknown> = isRecord(field) ? field : {};
    const called = [label, name].find((word) => typeof word === "string" && word !== "");
    const shown = value === undefined || value === null ? "" : String(value);
    return called === undefined ? shown : shown === "" ? String(called) : `${called}: ${shown}`;
  });
  return texts.filter((word) => word !== "").join("; ");
}

/** A short form of an element that has no rendering: its category, and its summary or the beginning of its text. */
export function summaryOf(element: unknown): { readonly category: string; readonly summary: string } {
  const { category, summary, content }: Record<string, unknown> = isRecord(element) ? element : {};
  const { title, text, description, url, fields }: Record<string, unknown> = isRecord(content) ? content : {};
  const words = [summary, title, text, description, url, fieldsText(fields)].find((word) =>
    typeof word === "string" && word !== ""
  );
  return {
    category: typeof category === "string" && category !== "" ? toOneLine(category) : "element",
    summary: typeof words === "string" ? shorten(toOneLine(words), MAX_SUMMARY_LENGTH) : "",
  };
}
