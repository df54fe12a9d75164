/** Sends an Agent's requests, reads the answers, and fetches their large parts. */
import { abortable } from "../async/abortable.ts";
import { withDeadline } from "../async/deadline.ts";
import type { Link } from "../link/link.ts";
import type { LogFields, Logger } from "../log.ts";
import { parseGetBlobRet } from "../protocol/answers.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { fromErrorAck, SmcpError, UnsupportedRequestError, withDetailsTold } from "../protocol/errors.ts";
import {
  CANCEL_TOOL_CALL_EVENT,
  CLIENT_EVENT_PREFIX,
  GET_BLOB_EVENT,
  LIST_PRESENCE_EVENT,
} from "../protocol/events.ts";
import type { AnswerReader, OnFlaw } from "../protocol/flaws.ts";
import { RequestTimeoutError } from "../link/errors.ts";
import {
  DEFAULT_TIMEOUT_SECONDS,
  isTimeoutSeconds,
  MAX_TIMEOUT_SECONDS,
  toRequester,
} from "../protocol/call.ts";
import type { ProtocolMinor } from "../protocol/version.ts";
import { describeError, shorten } from "../text/text.ts";
import { makeRequest } from "../tracing.ts";
import { BLOB_CHUNK_BYTES, type FillOptions } from "./blobs.ts";

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

/** Options of a look at who would answer. */
export interface PresenceOptions extends RequestOptions {
  /** Whether silent Computers are sent a ping first; `true` by default. */
  readonly probe?: boolean | undefined;
}

export interface AskOptions<T> extends RequestOptions {
  readonly parse: AnswerReader<T>;
  /** Whether the caller logs a failure; `false` by default. */
  readonly isFailureLogged?: boolean | undefined;
}

type Body = Readonly<Record<string, unknown>>;

const MAX_NAMED_FLAWS = 5;
/** The most characters of a flaw in a log line: a peer chooses the names of fields. */
const MAX_FLAW_LENGTH = 200;
/** The most characters of a handle in a log line: a Computer chooses the handle. */
const MAX_LOGGED_HANDLE = 64;

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

export interface RequestsOptions {
  readonly link: Link;
  /** The Agent's name. */
  readonly agent: string;
  readonly graceMs: number;
  /** See `AgentOptions.maxBlobBytes`. */
  readonly maxBlobBytes: number;
  /** See `AgentOptions.blobTimeoutMs`. */
  readonly blobTimeoutMs: number;
  readonly logger: Logger;
  /** The machine that has a name now. */
  readonly machineOf: (computer: string) => Machine;
}

/** The machine that has a name in the office. */
export interface Machine {
  /** Follows when the Server has told it. */
  id?: string | undefined;
  /** Whether the office has a Computer of the name; follows as well. */
  isThere?: boolean;
  /** Settles when the Server has answered, or cannot. */
  readonly told?: Promise<unknown>;
}

/** See `RemoteComputerOptions`. */
interface CallerNames {
  readonly as?: string | undefined;
  readonly client?: string | undefined;
  readonly machine?: string | undefined;
}

/** The requests of an Agent to its Server, or to one Computer. */
export class Requests {
  readonly #options: RequestsOptions;
  /** The Computer; empty for the Server. */
  readonly computer: string;
  /** The name by which the caller knows the Computer, such as `laptop@shop` in a group of offices. */
  readonly shownName: string;
  /** Who asks, as the member `agent` says it. */
  readonly #requester: string;
  /** The machine of the Computer, whatever its name is by now. */
  #machine: Machine;

  constructor(options: RequestsOptions, computer = "", { as = computer, client, machine }: CallerNames = {}) {
    this.#machine = { id: machine };
    this.#options = options;
    this.computer = computer;
    this.shownName = as;
    this.#requester = toRequester(options.agent, client);
  }

  /** The requests to a Computer. */
  to(computer: string, names?: CallerNames): Requests {
    return new Requests(this.#options, computer, names);
  }

  get protocolVersion(): ProtocolMinor {
    return this.#options.link.protocolVersion;
  }

  /** The largest request that the connection takes, in bytes; `undefined` while there is none. */
  get maxBytes(): number | undefined {
    return this.#options.link.maxPayloadBytes;
  }

  /**
   * Sends a request and reads its answer. Adds `agent`, `req_id` and, for a Computer, `computer` to the body, except where
   * it has them.
   *
   * @throws {SmcpError} the error that the Server or the Computer answers; 413 when the request is too large; 500 when
   * the answer cannot be read. An {@linkcode UnsupportedRequestError} when the peer does not know the event.
   * @throws {RequestTimeoutError | ConnectionClosedError} when no answer arrives.
   */
  ask<T>(event: string, body: Body, options: AskOptions<T>): Promise<T> {
    const agent = this.#requester;
    const given = this.computer === "" ? body : { computer: this.#address(), ...body };
    // A request that has an id is part of an operation with a span of its own.
    if ("req_id" in given) return this.#send(event, { agent, ...given }, options);
    const attributes = {
      "a2c.computer": this.computer || String(given["computer"]),
      "a2c.agent": this.#options.agent,
    };
    return makeRequest(
      event,
      attributes,
      (req_id) => this.#send(event, { agent, req_id, ...given }, options),
    );
  }

  /** The id of the machine as soon as it is known, since another machine may take the name. */
  #address(): string {
    if (this.#machine.id === undefined) this.#machine = this.#options.machineOf(this.computer);
    return this.#machine.id ?? this.computer;
  }

  async #send<T>(event: string, given: Body, options: AskOptions<T>): Promise<T> {
    const { link, graceMs, logger } = this.#options;
    const { timeoutMs, signal } = options;
    const body = timeoutMs === undefined ? given : { ...given, timeout: toTimeoutSeconds(timeoutMs) };
    // The id of a request and its Computer, never its contents.
    const about = { event, req_id: body["req_id"], computer: this.computer || body["computer"] };
    try {
      const waitMs = (timeoutMs ?? secondsOf(body["timeout"]) * 1000) + graceMs;
      const [answer] = await link.request(event, body, { timeoutMs: waitMs, signal });
      const flaws = new Flaws();
      const read = readAnswer(answer, { ...about, parse: (answer) => options.parse(answer, flaws.add) });
      if (flaws.count > 0) logger.warn("answer has flaws", { ...about, ...flaws.fields });
      return read;
    } catch (caught) {
      const error = this.#isGone(caught) ? await this.#toGone(caught, signal) : caught;
      if (options.isFailureLogged !== true) {
        // Whoever cancels a request knows that it ends.
        const isExpected = signal?.aborted === true || hasCode(error, options.expectedCodes ?? []);
        logger[isExpected ? "debug" : "warn"]("request failed", { ...about, error: describeError(error) });
      }
      throw error;
    }
  }

  /** Whether the Server has no machine of the id of this Computer. */
  #isGone(error: unknown): error is SmcpError {
    const { id } = this.#machine;
    return id !== undefined && hasCode(error, [ErrorCode.NOT_FOUND]) &&
      error.details?.["computer_name"] === id;
  }

  /** The machine may come back, unless another one has taken its name. */
  async #toGone(cause: SmcpError, signal: AbortSignal | undefined): Promise<SmcpError> {
    const named = this.#options.machineOf(this.computer);
    await abortable(named.told ?? Promise.resolve(), signal);
    const isReplaced = named.isThere === true && named.id !== this.#machine.id;
    const why = isReplaced
      ? "another machine has its name now; ask that one by a new agent.computer()"
      : "not in the office now; it may come back";
    const replaced = isReplaced ? { replaced: true } : {};
    const details = { ...cause.details, computer_name: this.shownName, ...replaced };
    return new SmcpError(cause.code, `Cannot reach Computer "${this.shownName}": ${why}`, { cause, details });
  }

  /**
   * Cancels a tool call. Does nothing while there is no connection. Names the Agent alone, also for a client: some Servers
   * refuse another name than that of the session here.
   */
  cancel(reqId: string): void {
    this.#options.link.emit(CANCEL_TOOL_CALL_EVENT, { agent: this.#options.agent, req_id: reqId });
  }

  /**
   * Lets `fill` fetch the large parts of an answer, within the Agent's limits. A part that cannot be fetched keeps its
   * handle; one log line names all of them.
   *
   * @throws the reason of `signal` when it is aborted.
   */
  async fill<T>(fill: (options: FillOptions) => Promise<T>, options: RequestOptions): Promise<T> {
    const { maxBlobBytes, blobTimeoutMs } = this.#options;
    const { signal } = options;
    const reason = () =>
      new RequestTimeoutError(
        `Cannot fetch the large parts of an answer: not complete in ${blobTimeoutMs} ms (blobTimeoutMs)`,
      );
    const failures = new Flaws();
    const flaws = new Flaws();
    const filled = await withDeadline(blobTimeoutMs, { reason, signal }, (signal) => {
      const asked = { ...options, signal, parse: parseGetBlobRet, isFailureLogged: true };
      return fill({
        maxBytes: maxBlobBytes,
        fetchChunk: (blob_handle, chunk_offset) =>
          this.ask(GET_BLOB_EVENT, { blob_handle, chunk_offset, max_chunk_bytes: BLOB_CHUNK_BYTES }, asked),
        onFailure: (handle, error) => {
          options.signal?.throwIfAborted();
          failures.add(shorten(handle, MAX_LOGGED_HANDLE), describeError(error));
        },
        onFlaw: flaws.add,
      });
    });
    if (failures.count > 0) this.warn("large parts of an answer were not fetched", failures.fields);
    if (flaws.count > 0) this.warn("answer has flaws", flaws.fields);
    return filled;
  }

  warn(message: string, fields: LogFields): void {
    this.#options.logger.warn(message, { computer: this.computer, ...fields });
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
  answer: unknown,
  { event, computer, parse }: {
    readonly event: string;
    readonly computer: unknown;
    readonly parse: (answer: unknown) => T;
  },
): T {
  const refusal = fromErrorAck(answer);
  // The reference Server and Computer answer an unknown event with an empty ack.
  const isOptional = event.startsWith(CLIENT_EVENT_PREFIX) || event === LIST_PRESENCE_EVENT;
  const isEmpty = (answer === undefined || answer === null) && isOptional;
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

/** One that names a limit is known, and may be sent later. */
function isUnknownEvent(error: unknown): boolean {
  return error instanceof SmcpError && error.code === ErrorCode.BAD_REQUEST &&
    error.details?.["field"] === "event" && error.details["limit"] === undefined;
}

function secondsOf(timeout: unknown): number {
  return isTimeoutSeconds(timeout) ? timeout : DEFAULT_TIMEOUT_SECONDS;
}

export function hasCode(error: unknown, codes: readonly number[]): error is SmcpError {
  return error instanceof SmcpError && codes.includes(error.code);
}

/** Whether a peer does not know an event, does not answer it, or cannot fit the answer into one message. */
export function isNotServed(error: unknown): boolean {
  return isUnknownEvent(error) || hasCode(error, [ErrorCode.TIMEOUT, ErrorCode.PAYLOAD_TOO_LARGE]);
}
