/** The state of an MCP server, and how its changes are logged. */
import type { Logger } from "../../log.ts";
import type { Journal } from "../journal.ts";

/** The last lines of stderr that are logged with a failure; npm needs as many. The journal has more. */
const LOGGED_STDERR_LINES = 8;

/**
 * The status of a server. `failed` is final until its configuration changes; `needs sign-in` ends when somebody signs in
 * (`auth login`).
 */
export type ServerStatus = "starting" | "running" | "retrying" | "needs sign-in" | "failed" | "stopped";

/** The state of a server. */
export interface ServerState {
  /** The status. */
  readonly status: ServerStatus;
  /** The version of MCP of its session; absent while it does not run. */
  readonly mcpVersion?: string;
  /** The time of the last change of status. */
  readonly since: Date;
  /** The number of restarts since it was configured, successful or not. */
  readonly restarts: number;
  /** The error that ended or prevented the last session; absent while the server runs and after a stop. */
  readonly lastError?: string;
  /** A failure of a running server: its tools cannot be listed. */
  readonly problem?: string;
  /** The end of the stderr of the last child process. */
  readonly stderrTail?: string;
}

/** The statuses that somebody should hear of. */
const FAILURES: ReadonlySet<ServerStatus> = new Set(["failed", "retrying", "needs sign-in"]);

/** Writes the changes of a server's state to the log and to its journal. */
export class StateLog {
  readonly #log: Logger;
  readonly #journal: Journal;
  /** The error that the last warning named; `undefined` once the server runs again or is stopped. */
  #warnedOf: string | undefined;

  constructor(log: Logger, journal: Journal) {
    this.#log = log;
    this.#journal = journal;
  }

  write({ status, lastError, stderrTail = "" }: ServerState): void {
    const warnedOf = this.#warnedOf;
    const isFailure = FAILURES.has(status);
    if (isFailure) this.#warnedOf = lastError;
    else if (status !== "starting") this.#warnedOf = undefined;
    this.#journal.state(status, isFailure ? lastError : undefined);
    const log = this.#log;
    if (isFailure) {
      // Warns once of a failure that every attempt repeats.
      if (lastError === warnedOf) log.info(`MCP server ${status}`, { error: lastError });
      else log.warn(`MCP server ${status}`, { error: lastError, stderr: lastLines(stderrTail) || undefined });
    } else if (status === "running" && warnedOf !== undefined) {
      // A warning as well, for readers who see only warnings.
      log.warn("MCP server is running again");
    } else log.info(`MCP server ${status}`);
  }
}

/** The last lines of a process most likely say why it ended. */
function lastLines(text: string): string {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.slice(-LOGGED_STDERR_LINES).join(" | ");
}
