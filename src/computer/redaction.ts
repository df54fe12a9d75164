/** Keeps what is known to be secret out of log lines and of what the Computer tells of its MCP servers. */
import type { LogFields, Logger } from "../log.ts";
import type { MCPServerConfig } from "../protocol/config.ts";
import { isRecord } from "../protocol/errors.ts";
import { MASK, maskServer } from "./masking.ts";
import { PLACEHOLDER } from "./config/placeholders.ts";

/** Shorter values are everywhere: to mask them would hide the text and tell the value. */
const MIN_LENGTH = 4;
/** The least length of a word of a longer value, such as the token after `Bearer`. */
const MIN_WORD_LENGTH = 8;
/** Longer values are no secrets that anybody would print. */
const MAX_LENGTH = 16 * 1024;
/** The most values that are remembered of one server; those of its oldest starts are forgotten first. */
const MAX_SECRETS = 500;
/** The most servers whose values are remembered, also when they are gone; the one that started longest ago goes first. */
const MAX_SERVERS = 1_000;
/** Fields whose values are names of ours: one that equals some variable's value stays readable. */
const NAME_FIELDS: ReadonlySet<string> = new Set(["req_id", "agent", "server", "tool", "outcome", "event"]);
/** A literal that masking has hidden, or a placeholder, or several of them side by side. */
const HIDDEN = new RegExp(`(?:\\*\\*\\*|${PLACEHOLDER.source})+`, "g");

/**
 * The secrets of one server: the values of its inputs, and whatever of its parameters an Agent sees as `***`.
 *
 * @param written The configuration as written, with placeholders.
 * @param resolved The same with the inputs' values in it.
 */
export function secretsOf(
  written: MCPServerConfig,
  resolved: { readonly server_parameters: object },
): string[] {
  const masked = maskServer(written);
  const values = [
    ...hiddenValues(written.server_parameters, resolved.server_parameters),
    ...hiddenValues(masked.server_parameters, resolved.server_parameters),
  ];
  return [...new Set(values.flatMap(spellings))];
}

/** Masks what it has learnt, in any text. */
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
    this.#pattern = parts.length === 0 ? undefined : new RegExp(parts.join("|"), "g");
  }

  /** The text with each secret in it as `***`. */
  redact(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, MASK);
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
    const mask = (fields: LogFields | undefined) => fields === undefined ? undefined : this.#fields(fields);
    return {
      debug: (message, fields) => log.debug(this.redact(message), mask(fields)),
      info: (message, fields) => log.info(this.redact(message), mask(fields)),
      warn: (message, fields) => log.warn(this.redact(message), mask(fields)),
      error: (message, fields) => log.error(this.redact(message), mask(fields)),
    };
  }

  #fields(fields: LogFields): LogFields {
    if (this.#pattern === undefined) return fields;
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [
        key,
        typeof value === "string" && !NAME_FIELDS.has(key) ? this.redact(value) : value,
      ]),
    );
  }
}

/** What stands in `resolved` in the places that `template` hides; both have the same shape. */
function hiddenValues(template: unknown, resolved: unknown): string[] {
  if (typeof template === "string" && typeof resolved === "string") return hiddenParts(template, resolved);
  if (Array.isArray(template) && Array.isArray(resolved)) {
    return template.flatMap((item, index) => hiddenValues(item, resolved[index]));
  }
  if (!isRecord(template) || !isRecord(resolved)) return [];
  return Object.entries(template).flatMap(([key, item]) => hiddenValues(item, resolved[key]));
}

function hiddenParts(template: string, resolved: string): string[] {
  const literals = template.split(HIDDEN);
  if (literals.length === 1) return [];
  const [, ...parts] = new RegExp(`^${literals.map(RegExp.escape).join("([^]*?)")}$`).exec(resolved) ?? [];
  return parts;
}

/** A value as it may be printed: as it is, word by word, in JSON, in a URL. */
function spellings(value: string): string[] {
  const words = value.split(/\s+/).filter((word) => word.length >= MIN_WORD_LENGTH);
  return [value, ...words].flatMap((text) => [text, JSON.stringify(text).slice(1, -1), toUrlText(text)]);
}

function toUrlText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function isWorthMasking(value: string): boolean {
  return value.length >= MIN_LENGTH && value.length <= MAX_LENGTH && !/^(?:true|false)$/i.test(value);
}
