/** Parsing JSON and testing its values. */

/** Parses JSON; `undefined` for invalid JSON, because the error of `JSON.parse` quotes the text, which may be secret. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether `value` is an object that is neither null nor an array, nor bytes, which would have millions of members. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/**
 * Whether an object has a member named `__proto__`, or one in it down to so many levels of objects. Zod leaves out such a
 * member without a word, so that a call would run with less than was sent.
 */
export function hasProto(value: unknown, levels: number): boolean {
  if (Array.isArray(value)) return value.some((item) => hasProto(item, levels));
  if (!isRecord(value) || levels === 0) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some((item) => hasProto(item, levels - 1));
}

/** Whether a member is there: peers in Python write `null` for absent ones. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether `value` is a list of texts. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

export function textsOf(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, string] => typeof member[1] === "string"),
  );
}
