/** Joins an office, and goes on trying while the office refuses it. */
import { Backoff, delay } from "../async/backoff.ts";
import type { Logger } from "../log.ts";
import { JoinRefusedError } from "../protocol/local_errors.ts";
import { describeError } from "../text/text.ts";

/** The waits before an office that refused an Agent is joined again, in milliseconds. */
const JOIN_AGAIN = { firstMs: 1_000, maxMs: 10_000 };

/**
 * Joins an office by `connect`; goes on trying while the office refuses it, such as while another Agent has its seat.
 *
 * @throws what `connect` throws besides, and the reason of the signal.
 */
export async function joinPatiently<Member>(
  connect: (signal: AbortSignal) => Promise<Member>,
  { signal, onRefused, logger }: {
    readonly signal: AbortSignal;
    /** Called with each refusal, in words for users. */
    readonly onRefused: (refusal: string) => void;
    readonly logger: Logger;
  },
): Promise<Member> {
  const backoff = new Backoff(JOIN_AGAIN);
  for (let attempt = 1;; attempt++) {
    try {
      return await connect(signal);
    } catch (error) {
      if (!(error instanceof JoinRefusedError) || signal.aborted) throw error;
      onRefused(describeError(error));
      if (attempt === 1) logger.warn("office not joined yet; trying again", { error: describeError(error) });
      await delay(backoff.next(), signal);
    }
  }
}
