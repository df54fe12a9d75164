/** The log of one MCP server across its restarts. */
import { rateOf, TokenBucket } from "../async/token_bucket.ts";
import type { Logger } from "../log.ts";
import { isRecord } from "../json/json.ts";
import { shorten } from "../text/text.ts";

const MAX_LINES = 200;
const MAX_LINE_LENGTH = 1_000;
/** The length that is searched for secrets before the line is cut, in characters; secrets are shorter. */
const MAX_READ_LENGTH = 20_000;
/** The messages of a server that are passed to our log. */
const PASSED = rateOf(50, 10_000);
/** The levels of `notifications/message` (RFC 5424) that are logged at "info". */
const GRAVE_LEVELS: ReadonlySet<string> = new Set(["warning", "error", "critical", "alert", "emergency"]);

export interface JournalContext {
  /** Receives the log messages of the server, at a bounded rate. */
  readonly log: Logger;
  readonly now: () => Date;
  /** Removes known secrets; nothing by default. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Called after each line; ignored by default. */
  readonly onLine?: (() => void) | undefined;
}

/**
 * Keeps the last 200 lines, each with its time and its source: `state`, `stderr`, or a level of the server's log. They may
 * hold secrets, so they stay on this machine.
 */
export class Journal {
  readonly #context: JournalContext;
  readonly #lines: string[] = [];
  /** The incomplete last line of stderr. */
  #rest = "";
  readonly #bucket: TokenBucket;
  #dropped = 0;

  constructor(context: JournalContext) {
    this.#context = context;
    this.#bucket = new TokenBucket(PASSED, () => context.now().getTime());
  }

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  state(status: string, reason?: string): void {
    this.#push("state", reason === undefined ? status : `${status}: ${reason}`);
  }

  /** Adds output on stderr; lines may arrive in pieces. */
  stderr(text: string): void {
    const lines = (this.#rest + text).split("\n");
    // The beginning of a very long line is enough.
    this.#rest = (lines.pop() ?? "").slice(0, MAX_READ_LENGTH);
    for (const line of lines.slice(-MAX_LINES)) this.#push("stderr", line);
  }

  /** Adds the incomplete last line of stderr. */
  stderrEnded(): void {
    if (this.#rest !== "") this.stderr("\n");
  }

  /** Adds a `notifications/message`; invalid ones are ignored. */
  message(params: unknown): void {
    if (!isRecord(params)) return;
    const { level, logger, data } = params;
    if (typeof level !== "string" || data === undefined) return;
    const name = typeof logger === "string" ? `${logger}: ` : "";
    const text = `${name}${typeof data === "string" ? data : JSON.stringify(data)}`;
    this.#push(level, text);
    this.#pass(level, text);
  }

  /** Passes a message to our log, at a bounded rate. */
  #pass(level: string, text: string): void {
    const { log } = this.#context;
    if (!this.#bucket.take()) return void this.#dropped++;
    if (this.#dropped > 0) log.info("left out log messages of the MCP server", { dropped: this.#dropped });
    this.#dropped = 0;
    const fields = { level, text: this.#toLine(text) };
    if (GRAVE_LEVELS.has(level)) log.info("MCP server log message", fields);
    else log.debug("MCP server log message", fields);
  }

  /** Redacts before it cuts: the beginning of a secret could not be recognized. */
  #toLine(text: string): string {
    const { redact = (text: string) => text } = this.#context;
    return shorten(redact(text.slice(0, MAX_READ_LENGTH)).trimEnd(), MAX_LINE_LENGTH);
  }

  #push(source: string, text: string): void {
    const line = this.#toLine(text);
    if (line === "") return;
    this.#lines.push(`${this.#context.now().toISOString()} ${shorten(source, MAX_LINE_LENGTH)} ${line}`);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
    this.#context.onLine?.();
  }
}
