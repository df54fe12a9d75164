/** What commands work with, wherever they were typed. */
import type { Session } from "./session.ts";

/** What every command works with. */
export interface CommandContext {
  readonly session: Session;
  /** Aborted when whoever asked has gone, or pressed Ctrl-C. */
  readonly signal: AbortSignal;
  /** Says what is being waited for. */
  readonly progress: (text: string) => void;
}
