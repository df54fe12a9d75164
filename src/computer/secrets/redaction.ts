/** Keeps what is known to be secret out of log lines and of what the Computer tells of its MCP servers. */
import { type LogFields, type Logger, silentLogger } from "../../log.ts";
import { isRecord } from "../../json.ts";
import { shorten } from "../../text.ts";
import { MASK } from "./masking.ts";

/** Shorter values are everywhere: to mask them would hide the text and tell the value. */
const MIN_LENGTH = 4;
/** Longer values are no secrets that anybody would print, in characters. */
const MAX_SECRET_LENGTH = 16 * 1024;
/** The most values that are remembered of one server; those of its oldest starts are forgotten first. */
const MAX_SECRETS = 500;
/** The most servers whose values are remembered, also when they are gone; the one that started longest ago goes first. */
const MAX_SERVERS = 1_000;
/** How deep a value is looked into; what is deeper is masked as a whole. */
const MAX_DEPTH = 32;
/** How much of a field is written to the log, in characters: cut after it was masked, so that no half secret stays. */
const MAX_FIELD_LENGTH = 1_000;
/** Values that are too common to be secrets, and too useful to be masked. */
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
/** Fields whose values are names of ours: one that equals some variable's value stays readable. */
const NAME_FIELDS: ReadonlySet<string> = new Set(["req_id", "agent", "server", "tool", "outcome", "event"]);

/** Masks the secrets that it was given, in any text. */
export class Redactor {
  /** By server, so that one that has another token at each of its many starts displaces nobody else's. */
  readonly #servers = new Map<string, readonly string[]>();
  /** All of them, longer ones first: one may be a part of another. */
  #secrets: readonly string[] = [];
  #pattern: RegExp | undefined;

  /** Adds the secrets of a server's start; those shorter than 4 characters and plain truth values are passed over. */
  learn(server: string, secrets: Iterable<string>): void {
    const known = new Set([...[...secrets].filter(isWorthMasking), ...this.#servers.get(server) ?? []]);
    this.#servers.delete(server);
    this.#servers.set(server, [...known].slice(0, MAX_SECRETS));
    for (const oldest of this.#servers.keys()) {
      if (this.#servers.size <= MAX_SERVERS) break;
      this.#servers.delete(oldest);
    }
    this.#secrets = [...new Set([...this.#servers.values()].flat())].sort((a, b) => b.length - a.length);
    const parts = this.#secrets.map(RegExp.escape);
    // A look-ahead takes no text: a secret that begins within another one is found as well.
    this.#pattern = parts.length === 0 ? undefined : new RegExp(`(?=(${parts.join("|")}))`, "g");
  }

  /** The text with each secret in it as `***`. */
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

  /** The same for every text in a value, and for the names of its members. */
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

  /** The same for the end of a longer text, which may begin in the middle of a secret. */
  redactTail(text: string): string {
    let cut = 0;
    for (const secret of this.#secrets) {
      for (let start = 1; secret.length - start >= Math.max(MIN_LENGTH, cut + 1); start++) {
        if (text.startsWith(secret.slice(start))) cut = secret.length - start;
      }
    }
    return (cut === 0 ? "" : MASK) + this.redact(text.slice(cut));
  }

  /** A logger that masks messages and fields before they are written. */
  wrap(log: Logger): Logger {
    // Nothing is written: there is nothing to mask.
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
    // The end of what a process wrote to stderr
    if (key === "stderr") return this.redactTail(value).slice(-MAX_FIELD_LENGTH).toWellFormed();
    return shorten(this.redact(value), MAX_FIELD_LENGTH);
  }
}

function isWorthMasking(value: string): boolean {
  return value.length >= MIN_LENGTH && value.length <= MAX_SECRET_LENGTH && !COMMON.has(value.toLowerCase());
}
