/** Answers: JSON, or events of a stream, none of which is longer than clients read; and their end. */
import { onAbort } from "../../async/abortable.ts";
import { type AskedRequest, LENGTH_HEADER, pairsOf } from "../headers.ts";
import { Buffer } from "node:buffer";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { LISTEN_METHOD } from "../../protocol/mcp.ts";
import { isRecord } from "../../json/json.ts";

/** Clients in Python and Go refuse an event of 1 MiB. */
const MAX_EVENT_BYTES = 900_000;
const SHORTENED_LENGTH = 20_000;

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream";

/** Proxies neither keep events back nor change them. */
const EVENTS_HEADERS: [string, string][] = [
  ["content-type", EVENTS_TYPE],
  ["cache-control", "no-cache, no-transform"],
  ["x-accel-buffering", "no"],
];

export interface AcceptedForms {
  readonly json: boolean;
  readonly events: boolean;
}

const REFUSED = /;\s*q=0(\.0*)?\s*(;|$)/;

/** The forms that answer a request; `undefined` when it takes none of them. */
export function acceptedForms(
  { method, headers }: Pick<AskedRequest, "method" | "headers">,
): AcceptedForms | undefined {
  const types = (headers.get("accept") || "*/*").toLowerCase().split(",")
    .filter((range) => !REFUSED.test(range)).map((range) => range.split(";", 1)[0]?.trim());
  const accepts = (...ranges: readonly string[]) => ranges.some((range) => types.includes(range));
  const json = accepts("*/*", "application/*", JSON_TYPE);
  const events = accepts("*/*", "text/*", EVENTS_TYPE);
  const isListening = headers.get("mcp-method") === LISTEN_METHOD;
  if (method !== "POST" || isListening) {
    return events || isListening ? { json: false, events: true } : undefined;
  }
  return json || events ? { json, events } : undefined;
}

/** An answer in JSON that is there as a whole. Headers that are set cost a tenth of those that are given. */
export function wholeAnswer(text: string): Response {
  const response = new Response(text);
  response.headers.set("content-type", JSON_TYPE);
  response.headers.set(LENGTH_HEADER, String(Buffer.byteLength(text)));
  return response;
}

/** An answer in events. */
export class EventStream {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor() {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => void (this.#controller = undefined),
    });
    this.response = new Response(body, { headers: EVENTS_HEADERS });
  }

  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  write(message: string): void {
    this.#controller?.enqueue(encoder.encode(toEvent(message)));
  }

  /** A sign of life. */
  beat(): void {
    this.#controller?.enqueue(encoder.encode(": keepalive\n\n"));
  }

  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}

/** The same answer in a form that the client takes. */
export async function inForm(response: Response, { json, events }: AcceptedForms): Promise<Response> {
  const [type] = response.headers.get("content-type")?.split(";") ?? [];
  if (response.status !== 200) return response;
  if (type === JSON_TYPE) {
    const text = await response.text();
    return json ? wholeAnswer(text) : new Response(toEvent(text), { headers: EVENTS_HEADERS });
  }
  if (type !== EVENTS_TYPE || events || response.body === null) return response;
  return wholeAnswer(await responseOf(response.body));
}

/** The answer to a request, from a stream of events: the SDK writes each in one piece. */
async function responseOf(events: ReadableStream<Uint8Array>): Promise<string> {
  for await (const event of events) {
    const data = dataOf(event);
    if (data !== undefined && !("method" in JSON.parse(data))) return data;
  }
  return "";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const EVENT_START = "event: message\ndata: ";
const EVENT_END = "\n\n";

function toEvent(data: string): string {
  return `${EVENT_START}${data}${EVENT_END}`;
}

/** The same response; where it was cut off before it had a body, the answers to the requests of `body`. */
export function orCutOff(
  response: Response,
  { until, body }: { readonly until: AbortSignal | undefined; readonly body: unknown },
): Response {
  if (response.body !== null || until?.aborted !== true) return response;
  const answers = cutOff(body);
  return answers === undefined ? response : new Response(answers, { headers: EVENTS_HEADERS });
}

/** The answers to the requests of a body that have none when their client may not go on. */
export function cutOff(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  const events = (Array.isArray(body) ? body : [body])
    .filter((each) => isRecord(each) && "method" in each && "id" in each)
    .map(({ id }) => toEvent(JSON.stringify({ jsonrpc: "2.0", id, error: CUT_OFF })));
  return events.length === 0 ? undefined : encoder.encode(events.join(""));
}

const CUT_OFF = {
  code: ProtocolErrorCode.InternalError,
  message:
    "Cannot go on with this request: your access was removed or changed, or has expired; a tool may have run",
};

/** The message of an event; `undefined` for a sign of life. */
function dataOf(event: Uint8Array): string | undefined {
  const text = decoder.decode(event);
  return text.startsWith(EVENT_START) ? text.slice(EVENT_START.length, -EVENT_END.length) : undefined;
}

/** An event that clients read; `undefined` for a notification that is too long. */
function fitted(event: Uint8Array): Uint8Array | undefined {
  const data = event.length <= MAX_EVENT_BYTES ? undefined : dataOf(event);
  if (data === undefined) return event;
  const message: unknown = JSON.parse(data);
  if (!isRecord(message) || ("method" in message && "id" in message)) return event;
  return "method" in message ? undefined : encoder.encode(toEvent(shortened(message)));
}

/** A response whose long items are shortened, or told to be left out. */
function shortened({ result, ...rest }: Readonly<Record<string, unknown>>): string {
  const content = isRecord(result) && Array.isArray(result["content"]) ? result["content"] : undefined;
  if (content === undefined) {
    const message = `Cannot send the answer: it is ${TOO_LONG}`;
    return JSON.stringify({ ...rest, error: { code: ProtocolErrorCode.InternalError, message } });
  }
  const share = MAX_EVENT_BYTES / (content.length + 1);
  const short = content.map((item) => sizeOf(item) > share ? { type: "text", text: toShort(item) } : item);
  const whole = { ...rest, result: { ...result as object, content: short } };
  if (sizeOf(whole) <= MAX_EVENT_BYTES) return JSON.stringify(whole);
  const text = `The tool ran. Its result is ${TOO_LONG}`;
  return JSON.stringify({ ...rest, result: { content: [{ type: "text", text }], isError: true } });
}

const TOO_LONG =
  "too long for an event stream that has begun: a call without a progress token is answered as a whole";

function toShort(item: unknown): string {
  const { type, text, mimeType = "unknown" }: Readonly<Record<string, unknown>> = isRecord(item) ? item : {};
  if (typeof text !== "string") return `[${type} (${mimeType}) of ${sizeOf(item)} bytes: ${TOO_LONG}]`;
  const begin = text.slice(0, SHORTENED_LENGTH).toWellFormed();
  return `${begin}\n\n[${text.length - begin.length} more characters: ${TOO_LONG}]`;
}

function sizeOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}

/** The most bytes of an answer that wait for its client: changes go on while a client reads nothing. */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/**
 * The same answer, whose events are none too long; `done` is called once, when its body is there as a whole or has been sent, its reader is gone, more than
 * {@linkcode MAX_UNREAD_BYTES} wait to be read, or `until` is aborted, which ends the body.
 *
 * @param options `last`: makes what ends a stream of events that `until` cuts off.
 */
export function whenDone(
  response: Response,
  done: () => void,
  { until, last }: {
    readonly until?: AbortSignal | undefined;
    readonly last?: (() => Uint8Array | undefined) | undefined;
  } = {},
): Response {
  if (response.headers.has(LENGTH_HEADER) || response.body === null) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const isEvents = response.headers.get("content-type")?.startsWith(EVENTS_TYPE) === true;
  let isDone = false;
  // Any other answer is there as a whole.
  const cut = onAbort(
    isEvents ? until : undefined,
    () => void reader.cancel(until?.reason).catch(() => undefined),
  );
  const end = () => {
    cut[Symbol.dispose]();
    if (!isDone) done();
    isDone = true;
  };
  const passOn = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const next = async () => (await reader.read()).value;
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      const sent = isEvents ? fitted(piece) : piece;
      if (sent === undefined) continue;
      if ((controller.desiredSize ?? 0) <= 0) {
        const message =
          `Cannot go on with the answer: more than ${MAX_UNREAD_BYTES} bytes of it wait to be read`;
        throw new DOMException(message, "AbortError");
      }
      controller.enqueue(sent);
    }
    const ending = until?.aborted === true && isEvents ? last?.() : undefined;
    if (ending !== undefined) controller.enqueue(ending);
    controller.close();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      passOn(controller).catch((error) => {
        controller.error(error);
        // The sender stops; an error of its own is this one.
        reader.cancel(error).catch(() => undefined);
      }).finally(end);
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }));
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers: pairsOf(headers) });
}
