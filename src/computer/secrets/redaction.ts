/** Replaces known secrets in texts: log lines, errors, states and logs of MCP servers. */
import { type LogFields, type Logger, silentLogger } from "../../log.ts";
import type { ServerState } from "../../mcp/supervision/server_state.ts";
import { isRecord } from "../../json/json.ts";
import { shorten } from "../../text/text.ts";
import { MASK } from "./masking.ts";
import { MIN_LENGTH, SecretTexts, spellings } from "./secret_texts.ts";
import type { ServerSecrets } from "./values.ts";

/** How deep values are searched; a deeper value is masked as a whole. */
const MAX_DEPTH = 32;
/** The longest field in the log, in characters. A field is cut after masking, so that no part of a secret remains. */
const MAX_FIELD_LENGTH = 1_000;
/** Fields whose values are names and stay readable, even if a name equals a secret. */
const NAME_FIELDS: ReadonlySet<string> = new Set(["req_id", "agent", "server", "tool", "outcome", "event"]);

export class Redactor {
  readonly #forOwner = new SecretTexts();
  readonly #forAgents = new SecretTexts();
  readonly #guarded = new SecretTexts();

  /** Adds the secrets of a server that starts. Values shorter than 4 characters and common words are ignored. */
  learn(
    server: string,
    all: readonly string[],
    { guarded = all, paths = [] }: Partial<Omit<ServerSecrets, "all">> = {},
  ): void {
    this.#forOwner.keep(server, all);
    this.#forAgents.keep(server, [...all, ...paths]);
    this.#guarded.keep(server, guarded);
  }

  /** Adds what the sign-in of a server goes on with. It is renewed all the time, and displaces no other secrets. */
  learnTokens(server: string, tokens: readonly string[]): void {
    this.learn(`${server}\0tokens`, tokens.flatMap(spellings));
  }

  /** The text with `***` for each secret. */
  redact(text: string): string {
    return this.#forOwner.redact(text);
  }

  /** The same for an Agent, but without the secrets in `shown`. */
  redactForAgent(text: string, shown: ReadonlySet<string>): string {
    return this.#forAgents.redact(text, shown);
  }

  /** The secrets that stand in a text of an Agent, in any of their forms, and whether one of them is guarded. */
  findIn(text: string): { readonly found: ReadonlySet<string>; readonly isGuarded: boolean } {
    const found = this.#forAgents.findIn(text);
    return { found, isGuarded: !this.#guarded.texts.isDisjointFrom(found) };
  }

  /** The same as {@linkcode redact} for all texts in a value, and for the names of its members. */
  redactDeep(value: unknown): unknown {
    return this.#forOwner.texts.size === 0 ? value : mapDeep(value, (text) => this.redact(text));
  }

  /** The same for the end of a longer text, which may start in the middle of a secret. */
  redactTail(text: string): string {
    let cut = 0;
    for (const secret of this.#forOwner.texts) {
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
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, this.#field(key, value)]));
  }

  #field(key: string, value: unknown): unknown {
    if (NAME_FIELDS.has(key)) return value;
    if (typeof value !== "string") return this.redactDeep(value);
    // Only the end of stderr was kept.
    if (key === "stderr") return this.redactTail(value).slice(-MAX_FIELD_LENGTH).toWellFormed();
    return shorten(this.redact(value), MAX_FIELD_LENGTH);
  }
}

/** Converts all texts in a value, and the names of its members. */
export function mapDeep(value: unknown, convert: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return convert(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((item) => mapDeep(item, convert, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [convert(key), mapDeep(item, convert, depth + 1)]),
  );
}
