/** The state of an MCP server, and how its changes are logged. */
import { stripVTControlCharacters } from "node:util";
import { untilAborted } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import type { Logger } from "../../log.ts";
import { shorten } from "../../text/text.ts";
import type { McpConnection } from "../connection.ts";
import type { Journal } from "../journal.ts";
import type { NotificationListener } from "../notifications.ts";

/** The last lines of stderr that are logged with a failure; npm needs as many. The journal has more. */
const LOGGED_STDERR_LINES = 8;
/** The most characters of a line of stderr in a message of one line. */
const MAX_TOLD_LINE = 200;

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
  /** The process of a server over stdio, which leads its process group; absent while it does not run. */
  readonly pid?: number;
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

export interface ServerListener extends NotificationListener {
  /** A new session has begun: lists of earlier sessions must be read again. */
  onRunning(connection: McpConnection): void;
  onStateChange(state: ServerState): void;
  /** A line was added to the journal; ignored by default. */
  onLog?(): void;
}

/** How long a change of state is waited for, in milliseconds. */
const MAX_WAIT_MS = 10_000;

export class StateChanges {
  #next = Promise.withResolvers<void>();

  tell(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when the condition holds after a change, when the signal is aborted, or after a while. */
  async until(
    isOver: () => boolean,
    { signal }: { readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    using bounds = new Deadline(MAX_WAIT_MS, { reason: () => new RangeError("No change in time"), signal });
    while (!bounds.signal.aborted && !isOver()) {
      await Promise.race([this.#next.promise, untilAborted(bounds.signal)]);
    }
  }
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
      else log.warn(`MCP server ${status}`, { error: lastError, stderr: linesOf(stderrTail) });
    } else if (status === "running" && warnedOf !== undefined) {
      // A warning as well, for readers who see only warnings.
      log.warn("MCP server is running again");
    } else log.info(`MCP server ${status}`);
  }
}

function linesOf(stderr: string): string | undefined {
  const lines = tellingLines(stderr, LOGGED_STDERR_LINES).map((line) => line.trim());
  return lines.length === 0 ? undefined : lines.join(" | ");
}

/** A line that says what went wrong, in the words of most languages; stack traces may follow it. */
const ERROR_LINE = /\b\w*(?:error|exception|fatal|panic)(?: ?\[\w+\]| \([\w .]+\))?:|\bpanicked at\b/i;

/**
 * The lines of stderr that most likely say why a process ended: the last ones, and the first that tells an error where
 * that stands above them. Without colours.
 */
export function tellingLines(stderr: string, count: number): string[] {
  const plain = stripVTControlCharacters(stderr);
  const lines = plain.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "");
  const last = lines.slice(-count);
  const first = lines.slice(0, -count).find((line) => ERROR_LINE.test(line));
  return first === undefined ? last : [first, ...last];
}

/** Why a server does not run: the error, and the line of stderr that most likely says more. */
export function reasonOf(
  { lastError, stderrTail = "" }: Pick<ServerState, "lastError" | "stderrTail">,
): string | undefined {
  const [line] = tellingLines(stderrTail, 1);
  return lastError === undefined || line === undefined
    ? lastError
    : `${lastError}: ${shorten(line.trim(), MAX_TOLD_LINE)}`;
}
