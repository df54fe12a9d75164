/** The protocol version of a link: fixed, or the one that the Server or the office names. */
import type { Logger } from "../log.ts";
import { JoinRefusedError, ProtocolVersionError } from "../protocol/local_errors.ts";
import { DEFAULT_PROTOCOL, highestMinorWithin, type ProtocolMinor } from "../protocol/version.ts";

export interface ProtocolChoiceOptions {
  /** The `MAJOR.MINOR` to begin with; `0.2` by default. */
  readonly protocolVersion?: ProtocolMinor | undefined;
  /** Whether the link may change it; false by default. */
  readonly mayChangeProtocol?: boolean | undefined;
}

/** Knows the version that a link speaks, and changes it when a refusal names another one. */
export class ProtocolChoice {
  readonly #mayChange: boolean;
  readonly #log: Logger;
  #minor: ProtocolMinor;

  constructor(options: ProtocolChoiceOptions, log: Logger) {
    this.#minor = options.protocolVersion ?? DEFAULT_PROTOCOL;
    this.#mayChange = options.mayChangeProtocol ?? false;
    this.#log = log;
  }

  get minor(): ProtocolMinor {
    return this.#minor;
  }

  /** Changes to the version that a refusal names; returns whether it did. */
  follow(refusal: unknown): boolean {
    const named = this.#mayChange ? protocolNamedIn(refusal) : undefined;
    if (named === undefined || named === this.#minor) return false;
    this.#log.info("changing the protocol version", { from: this.#minor, to: named });
    this.#minor = named;
    return true;
  }
}

/** The highest protocol version of this package that a Server named when it refused ours. */
function protocolNamedIn(refusal: unknown): ProtocolMinor | undefined {
  if (refusal instanceof ProtocolVersionError) return highestMinorWithin(refusal.refusal);
  return refusal instanceof JoinRefusedError ? refusal.officeProtocol : undefined;
}
