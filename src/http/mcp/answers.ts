/** Answers: JSON, or events of a stream, none of which is longer than clients read; and their end. */
import { pairsOf } from "../header_pairs.ts";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { LISTEN_METHOD } from "../../protocol/mcp.ts";
import { isRecord } from "../../json/json.ts";

/** Clients in Python and Go refuse an event of 1 MiB. */
const MAX_EVENT_BYTES = 900_000;
const SHORTENED_LENGTH = 20_000;

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream";

export const ANY_FORM = `${JSON_TYPE}, ${EVENTS_TYPE}`;

export interface AcceptedForms {
  readonly json: boolean;
  readonly events: boolean;
}

/** The forms that answer a request; `undefined` when it takes none of them. */
export function acceptedForms({ method, headers }: Request): AcceptedForms | undefined {
  const types = (headers.get("accept") || "*/*").toLowerCase().split(",").flatMap((range) => {
    const [type, ...parameters] = range.split(";").map((part) => part.trim());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [type];
  });
  const accepts = (...ranges: readonly string[]) => ranges.some((range) => types.includes(range));
  const json = accepts("*/*", "application/*", JSON_TYPE);
  const events = accepts("*/*", "text/*", EVENTS_TYPE);
  const isListening = headers.get("mcp-method") === LISTEN_METHOD;
  if (method !== "POST" || isListening) {
    return events || isListening ? { json: false, events: true } : undefined;
  }
  return json || events ? { json, events } : undefined;
}

/**
 * The same answer in a form that the client takes. An answer that is too long for an event becomes JSON, unless the stream
 * has begun: then it is shortened, and says so.
 *
 * @param options `signal`: aborted when the client is gone.
 */
export async function inForm(
  response: Response,
  { json, events, signal }: AcceptedForms & { readonly signal: AbortSignal },
): Promise<Response> {
  const { body, status } = response;
  const [type] = response.headers.get("content-type")?.split(";") ?? [];
  if (body === null || status !== 200) return response;
  if (type === JSON_TYPE && !json) {
    const events = ReadableStream.from([encoder.encode(toEvent(await response.text()))]);
    return withBody(response, EVENTS_TYPE, eventsOf(events.getReader()));
  }
  if (type !== EVENTS_TYPE) return response;
  const reader = body.getReader();
  if (!json) return withBody(response, EVENTS_TYPE, eventsOf(reader));
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const { value: first } = await reader.read();
    if (events && (first?.length ?? 0) <= MAX_EVENT_BYTES) {
      return withBody(response, EVENTS_TYPE, eventsOf(reader, first));
    }
    return withBody(response, JSON_TYPE, await responsesOf(reader, first));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function withBody({ headers: given }: Response, type: string, body: BodyInit): Response {
  const others = pairsOf(given).filter(([name]) => name !== "content-type");
  return new Response(body, { headers: [...others, ["content-type", type]] });
}

/** The answer to a request, or the list of those to a batch, from a stream that is read to its end. */
async function responsesOf(reader: EventReader, first: Uint8Array | undefined): Promise<string> {
  const answers: string[] = [];
  for (let piece = first; piece !== undefined; piece = (await reader.read()).value) {
    const data = dataOf(piece);
    if (data !== undefined && !("method" in JSON.parse(data))) answers.push(data);
  }
  const [only = "", ...others] = answers;
  return others.length === 0 ? only : `[${answers.join(",")}]`;
}

/** The events of a stream, one of which may have been read. */
function eventsOf(reader: EventReader, first?: Uint8Array): ReadableStream<Uint8Array> {
  let next = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let event: Uint8Array | undefined;
      while (event === undefined) {
        const { value } = next === undefined ? await reader.read() : { value: next };
        next = undefined;
        if (value === undefined) return controller.close();
        event = fitted(value);
      }
      controller.enqueue(event);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** The SDK writes each event in one piece. */
type EventReader = ReadableStreamDefaultReader<Uint8Array>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const EVENT_START = "event: message\ndata: ";
const EVENT_END = "\n\n";

function toEvent(data: string): string {
  return `${EVENT_START}${data}${EVENT_END}`;
}

/** The answers to the requests of a body that have none when their client may not go on. */
export function cutOff(body: unknown): Uint8Array | undefined {
  const events = (Array.isArray(body) ? body : [body])
    .filter((each) => isRecord(each) && "method" in each && "id" in each)
    .map(({ id }) => toEvent(JSON.stringify({ jsonrpc: "2.0", id, error: CUT_OFF })));
  return events.length === 0 ? undefined : encoder.encode(events.join(""));
}

const CUT_OFF = {
  code: ProtocolErrorCode.InternalError,
  message:
    "Cannot go on with this request: what the client may do has ended or was changed meanwhile; a tool may have run",
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
 * The same answer; `done` is called once, when its body has been sent, its reader is gone, more than
 * {@linkcode MAX_UNREAD_BYTES} wait to be read, or `until` is aborted, which ends the body.
 *
 * @param options `last`: what ends a stream of events that `until` cuts off.
 */
export function whenDone(
  response: Response,
  done: () => void,
  { until, last }: { readonly until?: AbortSignal | undefined; readonly last?: Uint8Array | undefined } = {},
): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const isEvents = response.headers.get("content-type")?.startsWith(EVENTS_TYPE) === true;
  let isDone = false;
  const stop = () => void reader.cancel(until?.reason).catch(() => undefined);
  const end = () => {
    until?.removeEventListener("abort", stop);
    if (!isDone) done();
    isDone = true;
  };
  until?.addEventListener("abort", stop);
  if (until?.aborted === true) stop();
  const passOn = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if ((controller.desiredSize ?? 0) <= 0) {
        const message =
          `Cannot go on with the answer: more than ${MAX_UNREAD_BYTES} bytes of it wait to be read`;
        throw new DOMException(message, "AbortError");
      }
      controller.enqueue(piece.value);
    }
    if (until?.aborted === true && last !== undefined && isEvents) controller.enqueue(last);
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
