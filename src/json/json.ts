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
