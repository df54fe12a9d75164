/** The names of keys and channels. All keys of an office have the same hash tag, hence the same slot. */
import { createHash } from "node:crypto";

export class RedisKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The hash of an office: its version and its seats. */
  office(officeId: string): string {
    return `${this.#tagged(officeId)}:seats`;
  }

  /** The channel of an office: its changes and notifications. */
  officeChannel(officeId: string): string {
    return `${this.#tagged(officeId)}:news`;
  }

  /** The key that exists as long as the lease of a process. */
  lease(fence: string): string {
    return `${this.#prefix}:lease:${fence}`;
  }

  processChannel(fence: string): string {
    return `${this.#prefix}:process:${fence}`;
  }

  session(sessionId: string): string {
    return `${this.#prefix}:session:${sessionId}`;
  }

  /** Escapes braces, so that the tag ends where it should. */
  #tagged(officeId: string): string {
    return `${this.#prefix}:{office.${encodeURIComponent(officeId)}}`;
  }
}

/** A digest in place of the `session` of a client, which would let its reader take the member's place. */
export function sessionIdOf(sessionKey: string): string {
  return createHash("sha256").update(sessionKey).digest("base64url");
}
