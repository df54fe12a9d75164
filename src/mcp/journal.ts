/** What one MCP server said and went through, across its restarts. */
import type { Logger } from "../log.ts";
import { isRecord } from "../json.ts";
import { shorten } from "../text.ts";

/** How many lines are remembered. */
const MAX_LINES = 200;
/** How much of a line is remembered, in characters. */
const MAX_LINE_LENGTH = 1_000;
/** How much of a line is looked at for secrets before it is cut to that: so long none of them is, in characters. */
const MAX_READ_LENGTH = 20_000;
/** So many log messages of the server's pass to our own log in each interval. */
const MAX_MESSAGES = 50;
/** That interval, in milliseconds. */
const MESSAGE_INTERVAL_MS = 10_000;
/** The levels of `notifications/message` (RFC 5424) that a person who runs the program may want to see. */
const GRAVE_LEVELS: ReadonlySet<string> = new Set(["warning", "error", "critical", "alert", "emergency"]);

/** What a journal needs. */
export interface JournalContext {
  /** Where the server's log messages go, as far as they are not too many. */
  readonly log: Logger;
  readonly now: () => Date;
  /** Masks what is known to be secret; nothing by default. */
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * Keeps the last lines, each with its time and where it comes from: `state`, `stderr`, or a level of the server's own
 * log. For local eyes only: a server may say what is secret.
 */
export class Journal {
  readonly #context: JournalContext;
  readonly #lines: string[] = [];
  /** The beginning of a line of stderr. */
  #rest = "";
  #intervalEndsMs = 0;
  #messages = 0;

  constructor(context: JournalContext) {
    this.#context = context;
  }

  /** Oldest first. */
  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** The server is in another state. */
  state(status: string, reason?: string): void {
    this.#push("state", reason === undefined ? status : `${status}: ${reason}`);
  }

  /** Something that its process wrote to stderr; lines may come in pieces. */
  stderr(text: string): void {
    const lines = (this.#rest + text).split("\n");
    // Of a line without an end the beginning is enough.
    this.#rest = (lines.pop() ?? "").slice(0, MAX_READ_LENGTH);
    for (const line of lines.slice(-MAX_LINES)) this.#push("stderr", line);
  }

  /** Its process writes no more. */
  stderrEnded(): void {
    if (this.#rest !== "") this.stderr("\n");
  }

  /** `notifications/message` (`logging` of MCP); what is no such message is ignored. */
  message(params: unknown): void {
    if (!isRecord(params)) return;
    const { level, logger, data } = params;
    if (typeof level !== "string" || data === undefined) return;
    const name = typeof logger === "string" ? `${logger}: ` : "";
    const text = `${name}${typeof data === "string" ? data : JSON.stringify(data)}`;
    this.#push(level, text);
    this.#pass(level, text);
  }

  /** Tells our own log, unless it has been told enough. */
  #pass(level: string, text: string): void {
    const { log, now } = this.#context;
    const nowMs = now().getTime();
    if (nowMs >= this.#intervalEndsMs) {
      const dropped = this.#messages - MAX_MESSAGES;
      if (dropped > 0) log.info("the MCP server logged more than is shown", { dropped });
      this.#intervalEndsMs = nowMs + MESSAGE_INTERVAL_MS;
      this.#messages = 0;
    }
    if (++this.#messages > MAX_MESSAGES) return;
    const fields = { level, text: this.#toLine(text) };
    if (GRAVE_LEVELS.has(level)) log.info("the MCP server logs", fields);
    else log.debug("the MCP server logs", fields);
  }

  /** Masked before it is cut: the beginning of a secret at the end of a line would be known to nobody. */
  #toLine(text: string): string {
    const { redact = (text: string) => text } = this.#context;
    return shorten(redact(text.slice(0, MAX_READ_LENGTH)).trimEnd(), MAX_LINE_LENGTH);
  }

  #push(source: string, text: string): void {
    const line = this.#toLine(text);
    if (line === "") return;
    this.#lines.push(`${this.#context.now().toISOString()} ${shorten(source, MAX_LINE_LENGTH)} ${line}`);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }
}
