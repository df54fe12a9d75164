/** Replaces known secrets in texts: log lines, errors, states and logs of MCP servers. */
import { type LogFields, type Logger, silentLogger } from "../../log.ts";
import type { ServerState } from "../../mcp/supervision/server_state.ts";
import { isRecord } from "../../json.ts";
import { shorten } from "../../text.ts";
import { MASK } from "./masking.ts";
import { spellings } from "./values.ts";

/** Shorter values occur in any text: masking them would hide the text and reveal the value. */
const MIN_LENGTH = 4;
/** Longer values are unlikely to be printed, in characters. */
const MAX_SECRET_LENGTH = 16 * 1024;
/** The most secrets of one server, and the most of its tokens; those of its oldest starts are forgotten first. */
const MAX_SECRETS = 500;
/** The most servers whose secrets are kept, removed servers included; the oldest start is forgotten first. */
const MAX_SERVERS = 1_000;
/** How deep values are searched; a deeper value is masked as a whole. */
const MAX_DEPTH = 32;
/** The longest field in the log, in characters. A field is cut after masking, so that no part of a secret remains. */
const MAX_FIELD_LENGTH = 1_000;
/** Common words that are never masked. */
const COMMON: ReadonlySet<string> = new Set(
  [
    "true",
    "false",
    "null",
    "none",
    "node",
    "debug",
    "info",
    "warn",
    "error",
    "stdio",
    "http",
    "https",
    "localhost",
  ],
);
/** Fields whose values are names and stay readable, even if a name equals a secret. */
const NAME_FIELDS: ReadonlySet<string> = new Set(["req_id", "agent", "server", "tool", "outcome", "event"]);

/** Masks known secrets in any text. */
export class Redactor {
  /**
   * By server, so that a server with a new token at each start displaces no secrets of other servers; its tokens apart
   * from the rest.
   */
  readonly #servers = new Map<string, readonly string[]>();
  /** All secrets, longer ones first, because one may be a part of another. */
  #secrets: readonly string[] = [];
  #pattern: RegExp | undefined;

  /** Adds the secrets of a server that starts. Values shorter than 4 characters and common words are ignored. */
  learn(server: string, secrets: Iterable<string>): void {
    this.#keep(server, secrets);
  }

  /** Adds what the sign-in of a server goes on with. It is renewed all the time, and displaces no other secrets. */
  learnTokens(server: string, tokens: readonly string[]): void {
    this.#keep(`${server}\0tokens`, tokens.flatMap(spellings));
  }

  #keep(key: string, secrets: Iterable<string>): void {
    const known = new Set([...[...secrets].filter(isWorthMasking), ...this.#servers.get(key) ?? []]);
    this.#servers.delete(key);
    this.#servers.set(key, [...known].slice(0, MAX_SECRETS));
    for (const oldest of this.#servers.keys()) {
      if (this.#servers.size <= MAX_SERVERS) break;
      this.#servers.delete(oldest);
    }
    this.#secrets = [...new Set([...this.#servers.values()].flat())].sort((a, b) => b.length - a.length);
    const parts = this.#secrets.map(RegExp.escape);
    // A look-ahead consumes no text, so that overlapping secrets are found.
    this.#pattern = parts.length === 0 ? undefined : new RegExp(`(?=(${parts.join("|")}))`, "g");
  }

  /** The text with `***` for each secret. */
  redact(text: string): string {
    if (this.#pattern === undefined) return text;
    let redacted = "";
    let end = 0;
    for (const { index, 1: secret = "" } of text.matchAll(this.#pattern)) {
      if (index >= end) redacted += text.slice(end, index) + MASK;
      end = Math.max(end, index + secret.length);
    }
    return redacted + text.slice(end);
  }

  /** The same for all texts in a value, and for the names of its members. */
  redactDeep(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.redact(value);
    if (this.#pattern === undefined || typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return MASK;
    if (Array.isArray(value)) return value.map((item) => this.redactDeep(item, depth + 1));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.redact(key), this.redactDeep(item, depth + 1)]),
    );
  }

  /** The same for the end of a longer text, which may start in the middle of a secret. */
  redactTail(text: string): string {
    let cut = 0;
    for (const secret of this.#secrets) {
      for (let start = 1; secret.length - start >= Math.max(MIN_LENGTH, cut + 1); start++) {
        if (text.startsWith(secret.slice(start))) cut = secret.length - start;
      }
    }
    return (cut === 0 ? "" : MASK) + this.redact(text.slice(cut));
  }

  /** The same for the texts in the state of an MCP server. */
  redactState({ lastError, stderrTail, ...state }: ServerState): ServerState {
    return {
      ...state,
      ...(lastError === undefined ? {} : { lastError: this.redact(lastError) }),
      ...(stderrTail === undefined ? {} : { stderrTail: this.redactTail(stderrTail) }),
    };
  }

  /** A logger that masks messages and fields. */
  wrap(log: Logger): Logger {
    // It writes nothing, so masking would be wasted.
    if (log === silentLogger) return log;
    const mask = (fields: LogFields | undefined) => fields === undefined ? undefined : this.#fields(fields);
    return {
      debug: (message, fields) => log.debug(this.redact(message), mask(fields)),
      info: (message, fields) => log.info(this.redact(message), mask(fields)),
      warn: (message, fields) => log.warn(this.redact(message), mask(fields)),
      error: (message, fields) => log.error(this.redact(message), mask(fields)),
    };
  }

  #fields(fields: LogFields): LogFields {
    return Object.fromEntries(
      Object.entries(fields).map((
        [key, value],
      ) => [key, NAME_FIELDS.has(key) ? value : this.#field(key, value)]),
    );
  }

  #field(key: string, value: unknown): unknown {
    if (typeof value !== "string") return this.redactDeep(value);
    // Only the end of stderr was kept.
    if (key === "stderr") return this.redactTail(value).slice(-MAX_FIELD_LENGTH).toWellFormed();
    return shorten(this.redact(value), MAX_FIELD_LENGTH);
  }
}

function isWorthMasking(value: string): boolean {
  return value.length >= MIN_LENGTH && value.length <= MAX_SECRET_LENGTH && !COMMON.has(value.toLowerCase());
}
