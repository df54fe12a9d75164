/** Sends an Agent's requests and reads the answers. */
import type { Link } from "../link/link.ts";
import type { LogFields, Logger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { fromErrorAck, SmcpError, UnsupportedRequestError, withDetailsTold } from "../protocol/errors.ts";
import { describeError, shorten } from "../text.ts";
import { CANCEL_TOOL_CALL_EVENT, CLIENT_EVENT_PREFIX } from "../protocol/events.ts";
import type { AnswerReader, OnFlaw } from "../protocol/flaws.ts";
import type { ProtocolMinor } from "../protocol/version.ts";
import { makeRequest } from "../tracing.ts";
import { DEFAULT_TIMEOUT_SECONDS, isTimeoutSeconds, MAX_TIMEOUT_SECONDS } from "../protocol/timeouts.ts";

/** Options of every request. */
export interface RequestOptions {
  /** Stops the wait: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time that the Computer may take, in milliseconds, above 0 and up to 86,400,000; 30,000 by default. The protocol
   * counts in whole seconds, so the Computer gets this time rounded up: 200 becomes 1 second. The promise settles after
   * `timeoutMs` plus {@linkcode AgentOptions.graceMs} (10 s by default) at the latest, so that the Computer's own
   * time-out answer can arrive. To stop after exactly 200 ms, pass `signal: AbortSignal.timeout(200)`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The codes of errors that the caller expects, such as 404 where it looks for something: the Agent logs them as
   * `debug`, in place of `warn`. None by default.
   */
  readonly expectedCodes?: readonly number[] | undefined;
}

export interface OutgoingRequest {
  readonly event: string;
  /** The members besides `agent`, `req_id` and `timeout`; an `agent` or `req_id` here replaces the default. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SendOptions<T> extends RequestOptions {
  readonly parse: AnswerReader<T>;
  /** Whether the caller logs a failure; `false` by default. */
  readonly isFailureLogged?: boolean | undefined;
}

const MAX_NAMED_FLAWS = 5;
/** The most characters of a flaw in a log line: a peer chooses the names of fields. */
const MAX_FLAW_LENGTH = 200;

export class Flaws {
  count = 0;
  readonly #named: string[] = [];

  readonly add: OnFlaw = (field, what) => {
    this.count++;
    if (this.count <= MAX_NAMED_FLAWS) this.#named.push(shorten(`${field}: ${what}`, MAX_FLAW_LENGTH));
  };

  get fields(): LogFields {
    return { count: this.count, flaws: this.#named.join("; ") };
  }
}

export class Requests {
  readonly #link: Link;
  readonly #agent: string;
  readonly #graceMs: number;
  readonly #log: Logger;

  constructor(
    link: Link,
    options: { readonly agent: string; readonly graceMs: number; readonly logger: Logger },
  ) {
    this.#link = link;
    this.#agent = options.agent;
    this.#graceMs = options.graceMs;
    this.#log = options.logger;
  }

  get protocolVersion(): ProtocolMinor {
    return this.#link.protocolVersion;
  }

  /** The largest request that the connection takes, in bytes; `undefined` while there is none. */
  get maxRequestBytes(): number | undefined {
    return this.#link.maxPayloadBytes;
  }

  /**
   * Sends a request and reads its answer.
   *
   * @throws {SmcpError} the error that the Server or the Computer answers; 413 when the request is too large; 500 when
   * the answer cannot be read. An {@linkcode UnsupportedRequestError} when the peer does not know the event.
   * @throws {RequestTimeoutError | ConnectionClosedError} when no answer arrives.
   */
  send<T>(request: OutgoingRequest, options: SendOptions<T>): Promise<T> {
    // A request that has an id is part of an operation with a span of its own.
    if ("req_id" in request.body) return this.#send(request, options);
    const attributes = { "a2c.computer": String(request.body["computer"]), "a2c.agent": this.#agent };
    return makeRequest(request.event, attributes, (req_id) => {
      return this.#send({ event: request.event, body: { req_id, ...request.body } }, options);
    });
  }

  async #send<T>(request: OutgoingRequest, options: SendOptions<T>): Promise<T> {
    const { event } = request;
    const timeout = options.timeoutMs === undefined ? {} : { timeout: toTimeoutSeconds(options.timeoutMs) };
    const body: Readonly<Record<string, unknown>> = {
      agent: this.#agent,
      ...request.body,
      ...timeout,
    };
    try {
      const waitMs = (options.timeoutMs ?? secondsOf(body["timeout"]) * 1000) + this.#graceMs;
      const [answer] = await this.#link.request(event, body, { timeoutMs: waitMs, signal: options.signal });
      const flaws = new Flaws();
      const parse = (answer: unknown) => options.parse(answer, flaws.add);
      const read = readAnswer(event, { answer, computer: body["computer"], parse });
      if (flaws.count > 0) this.#log.warn("answer has flaws", { event, ...summarise(body), ...flaws.fields });
      return read;
    } catch (error) {
      if (options.isFailureLogged !== true) {
        // Whoever cancels a request knows that it ends.
        const isExpected = options.signal?.aborted === true || hasCode(error, options.expectedCodes ?? []);
        this.#log[isExpected ? "debug" : "warn"]("request failed", {
          event,
          ...summarise(body),
          error: describeError(error),
        });
      }
      throw error;
    }
  }

  /** Cancels a tool call. Does nothing while there is no connection. */
  cancel(reqId: string): void {
    this.#link.emit(CANCEL_TOOL_CALL_EVENT, { agent: this.#agent, req_id: reqId });
  }
}

/**
 * Converts milliseconds to the whole seconds of the wire, rounded up.
 *
 * @throws {RangeError} when `timeoutMs` is not above 0, or is more than a day.
 */
export function toTimeoutSeconds(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_SECONDS * 1000) return Math.ceil(timeoutMs / 1000);
  throw new RangeError(
    `Cannot use timeoutMs "${timeoutMs}": must be above 0 and at most ${MAX_TIMEOUT_SECONDS * 1000}`,
  );
}

function readAnswer<T>(
  event: string,
  { answer, computer, parse }: {
    readonly answer: unknown;
    readonly computer: unknown;
    readonly parse: AnswerReader<T>;
  },
): T {
  const refusal = fromErrorAck(answer);
  // The reference Server and Computer answer an unknown event with an empty ack.
  const isEmpty = (answer === undefined || answer === null) && event.startsWith(CLIENT_EVENT_PREFIX);
  if (isEmpty || isUnknownEvent(refusal)) {
    const name = typeof computer === "string" ? computer : undefined;
    throw new UnsupportedRequestError(event, { computer: name, cause: refusal });
  }
  if (refusal !== undefined) throw withDetailsTold(refusal);
  try {
    return parse(answer);
  } catch (cause) {
    const details = cause instanceof SmcpError ? cause.details : undefined;
    throw new SmcpError(
      ErrorCode.INTERNAL_ERROR,
      `Cannot read the answer to "${event}": ${describeError(cause)}`,
      details === undefined ? { cause } : { details, cause },
    );
  }
}

function isUnknownEvent(error: unknown): boolean {
  return error instanceof SmcpError && error.code === ErrorCode.BAD_REQUEST &&
    error.details?.["field"] === "event";
}

function secondsOf(timeout: unknown): number {
  return isTimeoutSeconds(timeout) ? timeout : DEFAULT_TIMEOUT_SECONDS;
}

function hasCode(error: unknown, codes: readonly number[]): boolean {
  return error instanceof SmcpError && codes.includes(error.code);
}

/** The fields of a request in a log line: its id and its Computer, never its contents. */
function summarise(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { req_id: body["req_id"], computer: body["computer"] };
}

/** Whether a peer does not know an event, does not answer it, or cannot fit the answer into one message. */
export function isNotServed(error: unknown): boolean {
  return isUnknownEvent(error) || hasCode(error, [ErrorCode.TIMEOUT, ErrorCode.PAYLOAD_TOO_LARGE]);
}
