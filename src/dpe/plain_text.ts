/** One value of a stranger, and one line, as text. */

/** A text as it is, another simple value as it is written, nothing as nothing, and the rest as JSON. */
export function toPlainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Cyclic, or nested too deeply
    return "";
  }
}

/** The lines of `text` joined by single spaces. */
export function toOneLine(text: string): string {
  return text.split(/[\r\n\u2028\u2029]+/).map((line) => line.trim()).filter((line) => line !== "").join(" ");
}
