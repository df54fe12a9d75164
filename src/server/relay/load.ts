/** Measures what connections cause: requests in flight with their bytes. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";

export interface LoadLimit {
  readonly requests: number;
  readonly bytes: number;
}

export class Load {
  requests = 0;
  bytes = 0;

  add(bytes: number): void {
    this.requests++;
    this.bytes += bytes;
  }

  remove(bytes: number): void {
    this.requests--;
    this.bytes -= bytes;
  }

  /**
   * Checks whether another request may be sent. Its own size does not count: below the limit, any size passes.
   *
   * @param whose The owner of this load, for the message.
   * @throws {SmcpError} 400 for too many requests, 413 for too many bytes.
   */
  requireCapacity(whose: string, limit: LoadLimit): void {
    if (this.requests >= limit.requests) {
      throw new SmcpError(
        ErrorCode.BAD_REQUEST,
        `Cannot relay a request: ${this.requests} requests of ${whose} are in flight`,
        { details: { field: "event", limit: limit.requests } },
      );
    }
    if (this.bytes < limit.bytes) return;
    throw new SmcpError(
      ErrorCode.PAYLOAD_TOO_LARGE,
      `Cannot relay a request: requests of ${whose} with ${this.bytes} bytes are in flight`,
      { details: { size: this.bytes, limit: limit.bytes } },
    );
  }
}

export class OfficeLoads {
  readonly #loads = new Map<string, Load>();

  get size(): number {
    return this.#loads.size;
  }

  /** Returns the load of an office; a new empty one, which is not kept, when nothing is in flight. */
  get(officeId: string): Load {
    return this.#loads.get(officeId) ?? new Load();
  }

  add(officeId: string, bytes: number): void {
    const load = this.get(officeId);
    load.add(bytes);
    if (load.requests === 1) this.#loads.set(officeId, load);
  }

  remove(officeId: string, bytes: number): void {
    const load = this.get(officeId);
    load.remove(bytes);
    if (load.requests === 0) this.#loads.delete(officeId);
  }
}
