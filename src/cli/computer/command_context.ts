/** The context of a command, the same at the prompt, for another process, and for one command alone. */
import type { Session } from "./session.ts";

/** What a command may use. */
export interface CommandContext {
  readonly session: Session;
  /** Aborted by Ctrl-C, and when the process that sent the command has ended. */
  readonly signal: AbortSignal;
  /** Shows what the command waits for. */
  readonly progress: (text: string) => void;
}
