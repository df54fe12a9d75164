/** Refusals: their HTTP status may go with a JSON-RPC error, which says more. */
import { settledWithin } from "../../async/abortable.ts";
import { isRecord, parseJson } from "../../json.ts";
import { shorten } from "../../text.ts";
import { readMessages, type RequestId, type RpcFailure } from "../json_rpc.ts";

const MAX_BODY_BYTES = 65_536;
const MAX_READ_MS = 5_000;
/** The length to which a text that is no JSON-RPC error is cut, in characters. */
const MAX_TEXT_LENGTH = 500;

export interface Refusal {
  /** Its JSON-RPC error. */
  readonly error?: RpcFailure["error"];
  /** The beginning of any other text that is no page. */
  readonly text?: string;
}

/** Reads the body of the refusal of the request `id`, or cancels it. */
export async function readRefusal(response: Response, id: RequestId | undefined): Promise<Refusal> {
  const text = (await readText(response))?.trim() ?? "";
  const value = parseJson(text);
  const event = parseJson(/^data:(.*)$/m.exec(text)?.[1] ?? "");
  const [message] = readMessages(
    isRecord(value) && isRecord(value["error"]) ? { jsonrpc: "2.0", ...value } : event,
  );
  if (message !== undefined && "error" in message) {
    // An error about the HTTP request as a whole has no id, or null.
    const isOwn = message.id === undefined || id === undefined || Number(message.id) === Number(id);
    if (isOwn) return { error: message.error };
  }
  return text === "" || text.startsWith("<") ? {} : { text: shorten(text, MAX_TEXT_LENGTH) };
}

async function readText({ body }: Response): Promise<string | undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return undefined;
  try {
    return await settledWithin(readAll(reader), MAX_READ_MS);
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
