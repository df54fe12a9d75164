/** What happens to grants, as lines of the audit trail. Strangers decide how often they are refused, so these lines are bounded. */
import { rateOf, TokenBucket } from "../async/token_bucket.ts";
import { BoundedLog } from "../bounded_log.ts";
import { type LogFields, type Logger, withFields } from "../log.ts";

const FIELDS = { module: "audit", action: "grant" } as const;
const REFUSAL_LINES = rateOf(60, 60_000);

export class HubAudit {
  /** For what people and commands have done. */
  readonly log: Logger;
  readonly #refusals: BoundedLog;

  constructor(logger: Logger) {
    this.log = withFields(logger, FIELDS);
    const buckets = [new TokenBucket(REFUSAL_LINES)];
    this.#refusals = new BoundedLog(this.log, { buckets, about: "refused clients of the hub" });
  }

  /** @param fields `address`: that of the client, or of the browser of its user. */
  refused(fields: LogFields & { readonly reason: string; readonly address: string | undefined }): void {
    this.#refusals.write("warn", "a client was refused", fields);
  }

  close(): void {
    this.#refusals.close();
  }
}
