/** The messages of JSON-RPC 2.0, a transport that carries them, and how fast it may be read. */
import { setImmediate } from "node:timers";
import { TokenBucket } from "../async/token_bucket.ts";
import { isGiven, isRecord, parseJson } from "../json/json.ts";
import { isRequestId, type RequestId, type RpcErrorBody, RpcErrorCode } from "../protocol/mcp.ts";
import { UNREADABLE } from "./errors.ts";
import { MAX_TURN_MS, MAX_WAITING_ANSWERS, OVERSIZED, UNASKED, UNASKED_UNIT_BYTES } from "./limits.ts";

export interface RpcRequest {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
}

export interface RpcNotification {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly jsonrpc: "2.0";
}

export interface RpcResult {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: Record<string, unknown>;
}

/** The refusal of a request; without an id, of something that could not be read. */
export interface RpcFailure {
  readonly jsonrpc: "2.0";
  readonly id?: RequestId;
  readonly error: RpcErrorBody;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResult | RpcFailure;

/** What a transport is told about one message; a transport with one channel for everything ignores it. */
export interface SendOptions {
  /** Closes the stream of the answer. */
  readonly requestSignal?: AbortSignal | undefined;
  /** Whether the answer is still waited for. */
  readonly isWaiting?: (() => boolean) | undefined;
  /** Further headers of an HTTP request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Carries messages to an MCP server and back. */
export interface Transport {
  start(): Promise<void>;
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  /** Ends the session if the configuration says so and the server is still there, and frees everything. */
  close(state: { readonly isGone: boolean }): Promise<void>;
  setProtocolVersion?(version: string): void;
  /** Whether each request has a stream of its own for its answer, as over Streamable HTTP. */
  readonly hasPerRequestStream?: boolean;
  /** How a child process ended; `undefined` while it runs, and over HTTP. */
  readonly exit?: string | undefined;
  /** The end of what a child process wrote to stderr. */
  readonly stderrTail?: string;
  /** The process of the server, which leads its process group. */
  readonly pid?: number | undefined;
  /** Called when a child process has exited. */
  onclose?: (() => void) | undefined;
  onmessage?: ((message: RpcMessage) => void) | undefined;
}

/**
 * The messages of one server. Their reader awaits {@linkcode Inflow.ready} before each piece, so that too many unrequested
 * messages wait in the pipe or socket of the server.
 */
export class Inflow {
  /** Unrequested messages; while there are too many, reading waits. */
  readonly #unasked = new TokenBucket(UNASKED);
  readonly #oversized = new TokenBucket(OVERSIZED);
  /** Answers to the server's requests that it has not read yet. */
  #waitingAnswers = 0;
  #turnEndsMs = 0;
  #isClosed = false;
  #wake = Promise.withResolvers<void>();

  /** Charges an unrequested message; `weight` is 1 by default. */
  take(bytes: number, weight = 1): void {
    this.#unasked.charge(weight + bytes / UNASKED_UNIT_BYTES);
  }

  /** Counts a message above a limit; returns whether the server goes on sending such messages. */
  takeOversized(): boolean {
    return !this.#oversized.take();
  }

  /** Delays the reading while the server does not read an answer. */
  async answering(sent: Promise<void>): Promise<void> {
    this.#waitingAnswers++;
    try {
      await sent;
    } finally {
      this.#waitingAnswers--;
      this.#wakeUp();
    }
  }

  /** Whether the next piece may be read now; otherwise await {@linkcode Inflow.ready}. */
  get isReady(): boolean {
    if (this.#isClosed) return true;
    return this.#waitingAnswers < MAX_WAITING_ANSWERS && performance.now() < this.#turnEndsMs &&
      this.#unasked.waitMs() === 0;
  }

  /** Resolves when the next piece may be read. */
  async ready(): Promise<void> {
    // Gives timers, sockets and other servers their turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.#isClosed && this.#waitingAnswers >= MAX_WAITING_ANSWERS) await this.#wake.promise;
    for (let ms = this.#unasked.waitMs(); ms > 0 && !this.#isClosed; ms = this.#unasked.waitMs()) {
      await this.#sleep(ms);
    }
    this.#turnEndsMs = performance.now() + MAX_TURN_MS;
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeUp();
  }

  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    // May wake up early, which does no harm.
    await Promise.race([promise, this.#wake.promise]);
    clearTimeout(timer);
  }

  #wakeUp(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
    if (this.#isClosed) this.#wake.resolve();
  }
}

/** The characters at either end of a text that cannot be parsed in which its id is looked for. */
const SEARCHED_LENGTH = 4_096;
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const SCALAR = String.raw`\s*(?:${STRING}|[-\w.+]+)\s*`;
const ID = String.raw`"id"\s*:\s*(${STRING}|-?[\d.]+)\s*`;
/** An id among the first or the last members, where those before or after it are no objects and no lists. */
const FIRST = String.raw`^\s*\{\s*(?:${STRING}\s*:${SCALAR},\s*)*`;
const FIRST_ID = new RegExp(FIRST + ID);
const FIRST_METHOD = new RegExp(`${FIRST}"method"`);
const LAST_ID = new RegExp(String.raw`${ID}(?:,\s*${STRING}\s*:${SCALAR})*\}\s*$`);

/**
 * Reads the messages in a JSON value: one, those of a batch, or none. An answer of a wrong shape becomes an error answer,
 * so that nobody waits for it any longer. Members that JSON-RPC does not name are ignored, and `null` is a missing one.
 */
export function readMessages(value: unknown): RpcMessage[] {
  return (Array.isArray(value) ? value : [value]).flatMap((each) => readMessage(each) ?? []);
}

/** The refusal of an answer that cannot be parsed, by the ends of its text; none where it names no request. */
export function readUnparsable(text: string, message: string = UNREADABLE): RpcFailure[] {
  const [head, tail] = [text.slice(0, SEARCHED_LENGTH), text.slice(-SEARCHED_LENGTH)];
  if (!`${head}${tail}`.includes('"jsonrpc"') || FIRST_METHOD.test(head)) return [];
  const id = parseJson(FIRST_ID.exec(head)?.[1] ?? LAST_ID.exec(tail)?.[1] ?? "");
  return isRequestId(id) ? [toUnreadable(id, message)] : [];
}

/** An error answer in the place of one that cannot be read. */
export function toUnreadable(id: RequestId, message: string = UNREADABLE): RpcFailure {
  return { jsonrpc: "2.0", id, error: { code: RpcErrorCode.PARSE_ERROR, message } };
}

function readMessage(value: unknown): RpcMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { jsonrpc, id, method, params, result, error } = value;
  const isAnswer = "result" in value || Boolean(error) || !isGiven(method);
  if (!isAnswer) return jsonrpc === "2.0" ? readRequest({ id, method, params }) : undefined;
  // A line of a log may have an id as well.
  if (jsonrpc !== "2.0" && !("result" in value) && !("error" in value)) return undefined;
  if (error) {
    return { jsonrpc: "2.0", ...(isRequestId(id) && { id }), error: readError(error) };
  }
  if (!isRequestId(id)) return undefined;
  return isRecord(result) ? { jsonrpc: "2.0", id, result } : toUnreadable(id);
}

function readRequest(
  { id, method, params }: { readonly id: unknown; readonly method: unknown; readonly params: unknown },
): RpcRequest | RpcNotification | undefined {
  if (typeof method !== "string" || isGiven(id) && !isRequestId(id)) return undefined;
  if (isGiven(params) && !isRecord(params)) return undefined;
  const message = { method, ...(isRecord(params) && { params }), jsonrpc: "2.0" } as const;
  return isRequestId(id) ? { ...message, id } : message;
}

/** Keeps what an error says, whatever its shape. */
function readError(error: unknown): RpcErrorBody {
  const { code, message, data } = isRecord(error)
    ? error
    : { code: undefined, message: error, data: undefined };
  const number = typeof code === "string" && code.trim() !== "" ? Number(code) : code;
  const isText = typeof message === "string" && message !== "";
  const hasCode = typeof number === "number" && Number.isInteger(number);
  const told = isText ? message : `${UNREADABLE}: an error without a message`;
  return {
    code: hasCode ? number : RpcErrorCode.INTERNAL_ERROR,
    message: isText && !hasCode ? `${UNREADABLE}: ${told}` : told,
    ...(isGiven(data) && { data }),
  };
}
