/** What a process that asks and a Computer that answers say to each other: one JSON line each. */
import { isRecord, parseJson } from "../../../json.ts";

/** What a process asks. */
export interface ControlRequest {
  /** Of the asking package: words mean the same only where it is the same. */
  readonly version: string;
  /** A command with its arguments. */
  readonly words: readonly string[];
  readonly json: boolean;
  /** The width of the terminal to draw for; none without it. */
  readonly columns?: number | undefined;
  readonly colors?: boolean | undefined;
}

/** What a command came to. */
export interface ControlAnswer {
  readonly output: string;
  readonly error: string;
  readonly exitCode: number;
}

/** What the Computer says: any number of `progress`, then one answer. */
export type ControlReply = { readonly progress: string } | ControlAnswer;

/**
 * Reads a request.
 *
 * @throws {TypeError} for anything else.
 */
export function parseRequest(line: string | undefined): ControlRequest {
  const request = parseJson(line ?? "");
  if (!isRecord(request) || !Array.isArray(request["words"])) {
    throw new TypeError("Cannot read the request: not a JSON object with words");
  }
  const { version, words, json, columns, colors } = request;
  return {
    version: String(version),
    words: words.map(String),
    json: json === true,
    columns: typeof columns === "number" && columns > 0 ? columns : undefined,
    colors: colors === true,
  };
}

/** Reads a reply; `undefined` for what is none. */
export function parseReply(line: string): ControlReply | undefined {
  const reply = parseJson(line);
  if (!isRecord(reply)) return undefined;
  const { progress, output, error, exitCode } = reply;
  if (typeof progress === "string") return { progress };
  if (typeof output !== "string") return undefined;
  return { output, error: String(error), exitCode: Number(exitCode) };
}

/** The lines of a stream, none longer than `maxBytes`. However long a line is, each byte is looked at once. */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  let parts: string[] = [];
  let sizeBytes = 0;
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    sizeBytes += bytes.length;
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    parts.push(first);
    for (const other of others) {
      yield parts.join("");
      parts = [other];
      sizeBytes = other.length;
    }
    if (sizeBytes > maxBytes) throw new RangeError(`Cannot read a line of more than ${maxBytes} bytes`);
  }
}

/** A message as a line. */
export function toLine(message: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${JSON.stringify(message)}\n`);
}
