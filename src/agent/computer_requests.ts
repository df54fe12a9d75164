/** The requests of an Agent to one Computer, and fetching what the Computer left out of an answer. */
import { Deadline } from "../async/deadline.ts";
import type { LogFields, Logger } from "../log.ts";
import { parseGetBlobRet } from "../protocol/answers.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { describeError, shorten } from "../text.ts";
import { GET_BLOB_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import { BLOB_CHUNK_BYTES, type FillOptions } from "./blobs.ts";
import { Flaws, type RequestOptions, type Requests, type SendOptions } from "./requests.ts";

/** The longest handle in a log line; a Computer chooses it. */
const MAX_LOGGED_HANDLE = 64;

/** What {@linkcode ComputerRequests} need. */
export interface ComputerRequestsOptions {
  readonly requests: Requests;
  readonly logger: Logger;
  /** Bytes that may be fetched for the large parts of one answer. */
  readonly maxBlobBytes: number;
  /** Milliseconds that this may take. */
  readonly blobTimeoutMs: number;
}

/** The requests to one Computer. */
export class ComputerRequests {
  /** The Computer's name. */
  readonly computer: string;
  readonly #options: ComputerRequestsOptions;

  constructor(computer: string, options: ComputerRequestsOptions) {
    this.computer = computer;
    this.#options = options;
  }

  /** Sends a request, as {@linkcode Requests.send} does, without the members of `body` that are undefined. */
  ask<T>(event: string, body: Readonly<Record<string, unknown>>, options: SendOptions<T>): Promise<T> {
    const given = Object.entries(body).filter(([, value]) => value !== undefined);
    const request = { event, body: { computer: this.computer, ...Object.fromEntries(given) } };
    return this.#options.requests.send(request, options);
  }

  /** Tells the Computer to end a tool call. */
  cancel(reqId: string): void {
    this.#options.requests.cancel(reqId);
  }

  /**
   * Lets `fill` fetch what was left out of an answer, within the Agent's bounds. Parts that cannot be fetched are left
   * as they are, and told in one log line.
   *
   * @throws the reason of `signal` when it is aborted.
   */
  async fill<T>(fill: (options: FillOptions) => Promise<T>, options: RequestOptions): Promise<T> {
    const { maxBlobBytes, blobTimeoutMs } = this.#options;
    const { signal } = options;
    using deadline = new Deadline(blobTimeoutMs, {
      reason: () => new RequestTimeoutError(`Cannot fetch a large answer: not there in ${blobTimeoutMs} ms`),
      signal,
    });
    const asked = { ...options, signal: deadline.signal, parse: parseGetBlobRet, isFailureLogged: true };
    const failures = new Flaws();
    const flaws = new Flaws();
    const filled = await fill({
      maxBytes: maxBlobBytes,
      fetchChunk: (blob_handle, chunk_offset) =>
        this.ask(GET_BLOB_EVENT, { blob_handle, chunk_offset, max_chunk_bytes: BLOB_CHUNK_BYTES }, asked),
      onFailure: (handle, error) => {
        signal?.throwIfAborted();
        failures.add(shorten(handle, MAX_LOGGED_HANDLE), describeError(error));
      },
      onFlaw: flaws.add,
    });
    if (failures.count > 0) this.warn("large parts of an answer were not fetched", failures.fields);
    if (flaws.count > 0) this.warn("answer has flaws", flaws.fields);
    return filled;
  }

  /** Logs what is wrong with an answer. */
  warn(message: string, fields: LogFields): void {
    this.#options.logger.warn(message, { computer: this.computer, ...fields });
  }
}

/** Whether a peer does not know an event, leaves it unanswered, or has too much to say for one message. */
export function isNotServed(error: unknown): boolean {
  if (!(error instanceof SmcpError)) return false;
  const { code, details } = error;
  return (code === ErrorCode.BAD_REQUEST && details?.["field"] === "event") || code === ErrorCode.TIMEOUT ||
    code === ErrorCode.PAYLOAD_TOO_LARGE;
}
