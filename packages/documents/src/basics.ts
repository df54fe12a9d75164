/**
 * Small common functions of this package. The parsers take them from here and not from the SDK: a parser process reads
 * nothing but this package, and starts twice as fast without the SDK.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text, or the first `maxLength` characters of a longer one and `…`. Half of a cut surrogate pair becomes `�`. The
 * result is a copy, because a slice would keep the whole text in memory.
 */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${decoder.decode(encoder.encode(text.slice(0, maxLength)))}…`;
}

export function describeError(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).toWellFormed();
}

/** Whether a value is an object with members, and neither a list nor bytes. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** What a promise resolves to, or `undefined` when that takes longer than `ms`. */
export async function settledWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
