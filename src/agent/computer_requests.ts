/** Sends an Agent's requests to one Computer, and fetches the large parts of answers. */
import { Deadline } from "../async/deadline.ts";
import type { LogFields, Logger } from "../log.ts";
import { parseGetBlobRet } from "../protocol/answers.ts";
import { describeError, shorten } from "../text.ts";
import { GET_BLOB_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import type { ProtocolMinor } from "../protocol/version.ts";
import { BLOB_CHUNK_BYTES, type FillOptions } from "./blobs.ts";
import { Flaws, type RequestOptions, type Requests, type SendOptions } from "./requests.ts";

/** The most characters of a handle in a log line: a Computer chooses the handle. */
const MAX_LOGGED_HANDLE = 64;

export interface ComputerRequestsOptions {
  readonly requests: Requests;
  readonly logger: Logger;
  /** See `AgentOptions.maxBlobBytes`. */
  readonly maxBlobBytes: number;
  /** See `AgentOptions.blobTimeoutMs`. */
  readonly blobTimeoutMs: number;
}

export class ComputerRequests {
  readonly computer: string;
  readonly #options: ComputerRequestsOptions;

  constructor(computer: string, options: ComputerRequestsOptions) {
    this.computer = computer;
    this.#options = options;
  }

  get protocolVersion(): ProtocolMinor {
    return this.#options.requests.protocolVersion;
  }

  /** The largest request that the connection takes, in bytes; `undefined` while there is none. */
  get maxRequestBytes(): number | undefined {
    return this.#options.requests.maxRequestBytes;
  }

  /** Sends a request as {@linkcode Requests.send} does, without members of `body` that are `undefined`. */
  ask<T>(event: string, body: Readonly<Record<string, unknown>>, options: SendOptions<T>): Promise<T> {
    const given = Object.entries(body).filter(([, value]) => value !== undefined);
    const request = { event, body: { computer: this.computer, ...Object.fromEntries(given) } };
    return this.#options.requests.send(request, options);
  }

  cancel(reqId: string): void {
    this.#options.requests.cancel(reqId);
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
    using deadline = new Deadline(blobTimeoutMs, {
      reason: () =>
        new RequestTimeoutError(
          `Cannot fetch the large parts of an answer: not complete in ${blobTimeoutMs} ms (blobTimeoutMs)`,
        ),
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

  warn(message: string, fields: LogFields): void {
    this.#options.logger.warn(message, { computer: this.computer, ...fields });
  }
}
