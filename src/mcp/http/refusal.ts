/** Refusals of 2026-07-28: their HTTP status goes with a JSON-RPC error, which says more. */
import { settledWithin } from "../../async/abortable.ts";
import { isRecord, parseJson } from "../../json.ts";
import { readMessage } from "../json_rpc.ts";

/** The largest body that is read, in bytes. */
const MAX_BODY_BYTES = 65_536;
/** How long reading it may take, in milliseconds. */
const MAX_READ_MS = 5_000;

/**
 * Returns the JSON-RPC error in the body of a refusal as an answer to the request `id`; `undefined` when there is none.
 * Reads the body in any case, or cancels it.
 */
export async function readRefusal(response: Response, id: unknown): Promise<Response | undefined> {
  const text = await readText(response);
  const value = text === undefined ? undefined : parseJson(text);
  if (!isRecord(value)) return undefined;
  // An error about the HTTP request as a whole has no id, or null.
  const { id: given, ...rest } = value;
  const isOwn = given === undefined || given === null || given === id;
  const message = isOwn ? readMessage({ ...rest, id }) : undefined;
  return message !== undefined && "error" in message ? Response.json(message) : undefined;
}

async function readText({ headers, body }: Response): Promise<string | undefined> {
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");
  const reader = body?.getReader();
  if (reader === undefined) return undefined;
  try {
    return isJson ? await settledWithin(readAll(reader), MAX_READ_MS) : undefined;
  } catch {
    return undefined;
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Resolves to `undefined` for a body that is too large. */
async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): Promise<string | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    bytes += read.value.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    pieces.push(read.value);
  }
  return await new Blob(pieces).text();
}
