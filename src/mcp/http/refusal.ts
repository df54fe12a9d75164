/** Refusals: their HTTP status may go with a JSON-RPC error, which says more. */
import type { RequestId } from "../../protocol/mcp.ts";
import { readBoundedText } from "../../files/files.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { shorten } from "../../text/text.ts";
import { readMessages, type RpcFailure } from "../json_rpc.ts";

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
  if (body === null) return undefined;
  const signal = AbortSignal.timeout(MAX_READ_MS);
  return await readBoundedText(body, { maxBytes: MAX_BODY_BYTES, signal }).catch(() => undefined);
}
