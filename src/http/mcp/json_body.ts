/** Reads the body of a request, up to a size, a time and a cost of its JSON, before anything else looks at it. */
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { delay } from "../../async/backoff.ts";
import { Deadline } from "../../async/deadline.ts";
import { hasProto, isRecord, MAX_RELAYED_DEPTH } from "../../json/json.ts";
import { JsonCost } from "../../json/cost.ts";
import type { AskedRequest } from "../headers.ts";
import type { AcceptedForms } from "./answers.ts";
import { httpError } from "./http_error.ts";

const BODY_TIME_MS = 30_000;

/** The most values of a body: members, items, and long texts in proportion. */
const MAX_BODY_VALUES = 1_000_000;

/**
 * The most members of a message, its parameters, arguments or metadata: the schemas of MCP look at each several times. What
 * is below them is passed on as it is.
 */
const MAX_MEMBERS = 1_000;
const CHECKED_LEVELS = 3;

/** The most bytes of the bodies of all requests together, besides small ones and one that fits alone. */
const MAX_TOGETHER_BYTES = 64 * 1024 * 1024;
/** What a value counts besides its bytes: it takes some 20 in memory. */
const BYTES_PER_VALUE = 16;
const SMALL_BYTES = 64 * 1024;

/** How many bytes are weighed at a time, and after how many milliseconds others get their turn. */
const SLICE_BYTES = 256 * 1024;
const SLICE_MS = 15;

/** Counts the bytes of the bodies that are in memory at the same time. */
export class BodyMemory {
  #taken = 0;

  /** The part of one request, which ends with its disposal. */
  open(): BodyShare {
    let own = 0;
    return {
      take: (bytes) => {
        own += bytes;
        this.#taken += bytes;
        return this.#taken <= MAX_TOGETHER_BYTES || own === this.#taken || own <= SMALL_BYTES;
      },
      [Symbol.dispose]: () => {
        this.#taken -= own;
        own = 0;
      },
    };
  }
}

export interface BodyShare extends Disposable {
  /** Takes so many bytes; `false` when all requests together have too many. */
  take(bytes: number): boolean;
}

export interface JsonBody {
  /** The value of the JSON; `undefined` for other methods than POST. */
  readonly body: unknown;
  readonly sizeBytes: number;
}

export interface AdmittedRequest extends JsonBody {
  /** Its method and headers. The body was read. */
  readonly request: AskedRequest;
  /** How it may be answered; `undefined` when its client takes none of the forms. */
  readonly forms: AcceptedForms | undefined;
  /** Aborted when its client may not go on. */
  readonly until: AbortSignal | undefined;
  /** What is freed when the answer has been sent, its reader is gone, or there is none. */
  readonly ending: { defer(free: () => void): void };
}

/**
 * Reads a body of JSON; or resolves to the refusal of one that is too large, too slow or cut off, that costs too much to
 * read, or that does not fit beside others. So no code behind can read or parse without a bound, and the body is parsed
 * once.
 */
export async function readJsonBody(
  request: AskedRequest,
  { maxBytes, share }: { readonly maxBytes: number; readonly share: BodyShare },
): Promise<JsonBody | Response> {
  const announcedBytes = Number(request.headers.get("content-length") ?? NaN);
  if (announcedBytes > maxBytes) return tooLarge(maxBytes);
  if (request.body === null) return noJson();
  using deadline = new Deadline(BODY_TIME_MS, {
    reason: () => new DOMException("The body came too slowly", "TimeoutError"),
  });
  const reader = request.body.getReader();
  const stop = () => void reader.cancel(deadline.signal.reason).catch(() => undefined);
  deadline.signal.addEventListener("abort", stop, { once: true });
  const read = await readText(reader, { maxBytes, announcedBytes, share }).catch(() => noJson());
  if (deadline.signal.aborted) return notSent();
  if (read instanceof Response) {
    stop();
    return read;
  }
  try {
    const value: unknown = JSON.parse(read.text);
    if (hasManyMembers(value, CHECKED_LEVELS)) {
      return httpError(413, `Cannot serve this request: an object has more than ${MAX_MEMBERS} members`);
    }
    if (hasProto(value, CHECKED_LEVELS)) {
      return httpError(400, 'Cannot serve this request: an object has a member named "__proto__"');
    }
    return { body: value, sizeBytes: read.sizeBytes };
  } catch {
    return noJson();
  }
}

/** Whether an object has too many members: the message or those of a batch, and what is in them, down to a level. */
function hasManyMembers(value: unknown, levels: number): boolean {
  if (Array.isArray(value)) {
    return levels === CHECKED_LEVELS && value.some((message) => hasManyMembers(message, levels));
  }
  if (!isRecord(value) || levels === 0) return false;
  const members = Object.values(value);
  return members.length > MAX_MEMBERS || members.some((member) => hasManyMembers(member, levels - 1));
}

/** Decodes and weighs the pieces as they arrive. Rejects when they are no text. */
async function readText(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { maxBytes, announcedBytes, share }: {
    readonly maxBytes: number;
    readonly announcedBytes: number;
    readonly share: BodyShare;
  },
): Promise<{ readonly text: string; readonly sizeBytes: number } | Response> {
  const cost = new JsonCost({ maxDepth: MAX_RELAYED_DEPTH });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let sizeBytes = 0;
  let turnEndsMs = performance.now() + SLICE_MS;
  const next = () => reader.read().catch(notSent);
  for (let piece = await next(); piece instanceof Response || !piece.done; piece = await next()) {
    if (piece instanceof Response) return piece;
    sizeBytes += piece.value.length;
    if (sizeBytes > maxBytes) return tooLarge(maxBytes);
    if (!share.take(piece.value.length)) return noRoom();
    for (let start = 0; start < piece.value.length; start += SLICE_BYTES) {
      const slice = piece.value.subarray(start, start + SLICE_BYTES);
      try {
        cost.push(slice);
      } catch {
        return httpError(
          400,
          `Cannot serve this request: its JSON has more than ${MAX_RELAYED_DEPTH} levels`,
        );
      }
      if (cost.values > MAX_BODY_VALUES) {
        return httpError(413, `Cannot serve this request: its JSON has more than ${MAX_BODY_VALUES} values`);
      }
      // A decoder that need not go on costs far less.
      const stream = sizeBytes !== announcedBytes || start + SLICE_BYTES < piece.value.length;
      text += decoder.decode(slice, { stream });
      if (performance.now() < turnEndsMs) continue;
      await delay(0);
      turnEndsMs = performance.now() + SLICE_MS;
    }
  }
  if (!share.take(cost.values * BYTES_PER_VALUE)) return noRoom();
  return { text: text + decoder.decode(), sizeBytes };
}

function noJson(): Response {
  return httpError(400, "Parse error: the body of the request is not valid JSON", {
    code: RpcErrorCode.PARSE_ERROR,
  });
}

function tooLarge(maxBytes: number): Response {
  return httpError(413, `Cannot serve this request: its body has more than ${maxBytes} bytes`);
}

function noRoom(): Response {
  const what = "the bodies of other requests fill the memory for them. Try again later";
  return httpError(503, `Cannot serve this request: ${what}`, { headers: { "retry-after": "5" } });
}

function notSent(): Response {
  return httpError(408, "Cannot serve this request: its body did not arrive in time");
}
