/** Finds known secrets in texts, and replaces them: in log lines, errors, states and logs of MCP servers. */
import { Buffer } from "node:buffer";
import { BoundedMap } from "../../async/bounded_collections.ts";
import { type LogFields, type Logger, silentLogger } from "../../log.ts";
import type { ServerState } from "../../mcp/supervision/server_state.ts";
import { isRecord } from "../../json/json.ts";
import { shorten } from "../../text/text.ts";
import { MASK } from "./masking.ts";

/** How deep values are searched; a deeper value is masked as a whole. */
const MAX_DEPTH = 32;
/** The longest field in the log, in characters. A field is cut after masking, so that no part of a secret remains. */
const MAX_FIELD_LENGTH = 1_000;
/** Fields whose values are names and stay readable, even if a name equals a secret. */
const NAME_FIELDS: ReadonlySet<string> = new Set(["req_id", "agent", "server", "tool", "outcome", "event"]);

/** Shorter values occur in any text: masking them would hide the text and reveal the value. */
const MIN_LENGTH = 4;
/** The shortest word of a longer value that counts, such as the token after `Bearer`, in characters. */
export const MIN_WORD_LENGTH = 8;
/** The longest value whose encodings are added, in characters. */
const MAX_ENCODED_LENGTH = 1_024;
/** Longer values are unlikely to be printed, in characters. */
const MAX_SECRET_LENGTH = 16 * 1024;
/** The most secrets of one server, and the most of its tokens; those of its oldest starts are forgotten first. */
const MAX_SECRETS = 500;
/** The most servers whose secrets are kept, removed servers included; the oldest start is forgotten first. */
const MAX_SERVERS = 1_000;
/** Common words that are never masked. */
const COMMON: ReadonlySet<string> = new Set(
  "true false null none node debug info warn error stdio http https localhost".split(" "),
);
const NONE: ReadonlySet<string> = new Set();

/** The secrets of an MCP server, each in all its forms. */
export interface ServerSecrets {
  readonly all: readonly string[];
  /** Those of them that no honest request contains by chance, such as a token, but not a mode or the name of a folder. */
  readonly guarded: readonly string[];
  /** Paths, which the owner may read: they are masked for Agents only. */
  readonly paths: readonly string[];
}

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

/** Secrets as they are found in texts. */
class SecretTexts {
  /**
   * By server, so that a server with a new token at each start displaces no secrets of other servers; its tokens apart
   * from the rest.
   */
  readonly #servers = new BoundedMap<string, readonly string[]>(MAX_SERVERS);
  #texts: ReadonlySet<string> = NONE;
  #pattern: RegExp | undefined;
  /** What is compared with a text of an Agent; made when it is needed. */
  #compared: Compared | undefined;

  get texts(): ReadonlySet<string> {
    return this.#texts;
  }

  keep(key: string, secrets: readonly string[]): void {
    const known = new Set([...secrets.filter(isWorthMasking), ...this.#servers.get(key) ?? []]);
    this.#servers.set(key, [...known].slice(0, MAX_SECRETS));
    this.#texts = new Set([...this.#servers.values()].flat());
    this.#pattern = toPattern(this.#texts);
    this.#compared = undefined;
  }

  redact(text: string, shown: ReadonlySet<string> = NONE): string {
    if (this.#pattern === undefined) return text;
    let redacted = "";
    let end = 0;
    for (const { index, 1: secret = "" } of text.matchAll(this.#pattern)) {
      if (shown.has(secret)) continue;
      if (index >= end) redacted += text.slice(end, index) + MASK;
      end = Math.max(end, index + secret.length);
    }
    return redacted + text.slice(end);
  }

  /** The secrets of which the text has any form, in all their forms. It takes the same time whatever is found. */
  findIn(text: string): ReadonlySet<string> {
    if (this.#pattern === undefined) return NONE;
    const { pattern, formsOf } = this.#compared ??= toCompared(this.#texts);
    const found = toHaystack(text).matchAll(pattern).map(([, compared = ""]) => compared);
    return new Set([...new Set(found)].flatMap((compared) => [...formsOf.get(compared) ?? []]));
  }
}

/** Secrets without case and punctuation, and for each of these all forms of the secrets that it belongs to. */
interface Compared {
  readonly pattern: RegExp;
  readonly formsOf: ReadonlyMap<string, ReadonlySet<string>>;
}

function toCompared(texts: ReadonlySet<string>): Compared {
  const formsOf = new Map([...texts].map((text) => [toComparedText(text), new Set([text])]));
  for (const secret of texts) {
    const forms = [secret, ...spellings(secret), ...encodings(secret)];
    for (const form of forms.filter((form) => texts.has(form))) {
      const group = formsOf.get(toComparedText(form));
      for (const other of forms) group?.add(other);
    }
  }
  // Of those that begin at the same place in a text, only the longest is found: it has the forms of the others, too.
  const outer: string[] = [];
  for (const compared of [...formsOf.keys()].sort()) {
    while (!compared.startsWith(outer.at(-1) ?? "")) outer.pop();
    for (const form of formsOf.get(outer.at(-1) ?? "") ?? []) formsOf.get(compared)?.add(form);
    outer.push(compared);
  }
  return { pattern: toPattern(new Set(formsOf.keys())) ?? /(?!)/g, formsOf };
}

function toPattern(texts: ReadonlySet<string>): RegExp | undefined {
  if (texts.size === 0) return undefined;
  const parts = [...texts].sort((a, b) => b.length - a.length).map(RegExp.escape);
  // A look-ahead consumes no text, so that overlapping secrets are found.
  return new RegExp(`(?=(${parts.join("|")}))`, "g");
}

/** What remains of a text when case and punctuation do not count: an MCP server may change or join what it repeats. */
function toComparedText(text: string): string {
  const decoded = decode(text);
  const letters = withoutPunctuation(decoded);
  return letters.length >= MIN_LENGTH ? letters : decoded.toLowerCase();
}

function withoutPunctuation(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

function toHaystack(text: string): string {
  const decoded = decode(text);
  const letters = [decoded, decodeWords(decoded)].map(withoutPunctuation);
  return [decoded.toLowerCase(), ...letters].join("\n");
}

/** How often a text is decoded: one escape may stand in another. */
const MAX_ROUNDS = 3;

/** Resolves the escapes of URLs and of JSON, and wide letters; what is invalid stays. */
function decode(text: string): string {
  let decoded = text.normalize("NFKC");
  for (let round = 0; round < MAX_ROUNDS && /[%\\]/.test(decoded); round++) {
    decoded = decoded.replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
    decoded = decodePercent(decoded).normalize("NFKC");
  }
  return decoded;
}

/** What is percent-encoded several times is decoded at once. */
function decodePercent(text: string): string {
  const escaped = encodeURI(text.toWellFormed()).replace(/%(?:25)+(?=[\da-f]{2})/gi, "%");
  return Buffer.from(unescape(escaped), "latin1").toString();
}

/** What the words of a text are in base64, in hexadecimal, and as numbers. */
function decodeWords(text: string): string {
  const all = (pattern: RegExp): readonly string[] => text.match(pattern) ?? [];
  const words = [...all(/[\w+/-]{6,}/g), ...all(/(?<=[+/])[\w-]{6,}|[\w-]{6,}(?=[+/])/g)].map((word) =>
    Buffer.from(word, "base64")
  );
  const digits = all(/[\da-f]{6,}/gi).map((word) => Buffer.from(word, "hex"));
  const numbers = all(/\b(?:0[xob][\da-f]+|\d[\d.]*e\+?\d+)\b/gi).map(Number);
  return [Buffer.concat([...words, ...digits]).toString(), ...numbers].join("\n");
}

function isWorthMasking(value: string): boolean {
  return value.length >= MIN_LENGTH && value.length <= MAX_SECRET_LENGTH && !COMMON.has(value.toLowerCase());
}

/** The forms in which a value may be printed: unchanged, word by word, in JSON, in a URL. */
export function spellings(value: string): string[] {
  const words = value.split(/\s+/).filter((word) => word.length >= MIN_WORD_LENGTH);
  return [value, ...words].flatMap((text) => [text, JSON.stringify(text).slice(1, -1), toUrlText(text)]);
}

/** The encodings of a value: form, JSON in ASCII, hexadecimal, anywhere in a base64 text. */
export function encodings(value: string): string[] {
  if (value.length < MIN_WORD_LENGTH || value.length > MAX_ENCODED_LENGTH) return [];
  const url = toUrlText(value);
  const form = new URLSearchParams({ "": value.toWellFormed() }).toString().slice(1);
  const ascii = JSON.stringify(value).slice(1, -1)
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const bytes = new TextEncoder().encode(value);
  const texts = [0, 1, 2].flatMap((offset) => inBase64(bytes, offset));
  return [url.replace(/%../g, (code) => code.toLowerCase()), form, ascii, bytes.toHex(), ...texts];
}

/** The base64 characters that depend only on these bytes when `offset` other bytes precede them, in both alphabets. */
function inBase64(bytes: Uint8Array, offset: number): string[] {
  const padded = new Uint8Array(offset + bytes.length);
  padded.set(bytes, offset);
  const start = Math.ceil(offset * 8 / 6);
  const end = Math.floor(padded.length * 8 / 6);
  return (["base64", "base64url"] as const).map((alphabet) =>
    padded.toBase64({ alphabet }).slice(start, end)
  );
}

function toUrlText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
