/** Finds known secrets in texts: as they are, and in the forms in which an Agent or an MCP server may write them. */
import { MASK } from "./masking.ts";
import { encodings, spellings } from "./values.ts";

/** Shorter values occur in any text: masking them would hide the text and reveal the value. */
export const MIN_LENGTH = 4;
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

const MAX_FOUND = 100;
const NONE: ReadonlySet<string> = new Set();
const NOTHING = /(?!)/g;

/** Secrets as they are found in texts. */
export class SecretTexts {
  /**
   * By server, so that a server with a new token at each start displaces no secrets of other servers; its tokens apart
   * from the rest.
   */
  readonly #servers = new Map<string, readonly string[]>();
  /** Longer ones first, because one may be a part of another. */
  #texts: readonly string[] = [];
  #pattern: RegExp | undefined;
  /** The same as they are compared with a text of an Agent, and what was found of them; made when it is needed. */
  #compared: RegExp | undefined;
  readonly #found = new Map<string, ReadonlySet<string>>();

  get texts(): readonly string[] {
    return this.#texts;
  }

  get isEmpty(): boolean {
    return this.#pattern === undefined;
  }

  keep(key: string, secrets: readonly string[]): void {
    const known = new Set([...secrets.filter(isWorthMasking), ...this.#servers.get(key) ?? []]);
    this.#servers.delete(key);
    this.#servers.set(key, [...known].slice(0, MAX_SECRETS));
    const [oldest = key] = this.#servers.keys();
    if (this.#servers.size > MAX_SERVERS) this.#servers.delete(oldest);
    this.#texts = [...new Set([...this.#servers.values()].flat())].sort((a, b) => b.length - a.length);
    this.#pattern = toPattern(this.#texts);
    this.#compared = undefined;
    this.#found.clear();
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

  /** The secrets of which the text has any form, in all their forms. */
  findIn(text: string): ReadonlySet<string> {
    if (this.isEmpty) return NONE;
    this.#compared ??= toPattern([...new Set(this.#texts.map(toCompared))]);
    const matches = toHaystack(text).matchAll(this.#compared ?? NOTHING);
    const found = [...new Set(matches.map(([, form = ""]) => form))].sort();
    if (found.length === 0) return NONE;
    const key = found.join("\n");
    const known = this.#found.get(key) ?? this.#formsOf(found);
    if (this.#found.size < MAX_FOUND) this.#found.set(key, known);
    return known;
  }

  /** All forms of the secrets that stand in what was found. */
  #formsOf(found: readonly string[]): ReadonlySet<string> {
    const known = new Set(this.#texts.filter((secret) => {
      const compared = toCompared(secret);
      return found.some((other) => other.includes(compared));
    }));
    const all = this.#texts.flatMap((secret) => {
      const forms = [secret, ...spellings(secret), ...encodings(secret)];
      return forms.some((form) => known.has(form)) ? forms : [];
    });
    return new Set([...known, ...all]);
  }
}

function toPattern(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const parts = [...texts].sort((a, b) => b.length - a.length).map(RegExp.escape);
  // A look-ahead consumes no text, so that overlapping secrets are found.
  return new RegExp(`(?=(${parts.join("|")}))`, "g");
}

/** What remains of a text when case and punctuation do not count: an MCP server may change or join what it repeats. */
function toCompared(text: string): string {
  const letters = withoutPunctuation(text);
  return letters.length >= MIN_LENGTH ? letters : text.toLowerCase();
}

function withoutPunctuation(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

function toHaystack(text: string): string {
  const decoded = decode(text);
  const bytes = decoded.length > MAX_ENCODED_LENGTH ? "" : decodeRuns(decoded);
  return [text.toLowerCase(), ...new Set([text, decoded, bytes].map(withoutPunctuation))].join("\n");
}

/** How often a text is decoded: encoded text may be encoded again. */
const MAX_ROUNDS = 3;

/** Resolves the escapes of URLs and of JSON; what is invalid stays. */
function decode(text: string): string {
  let decoded = text;
  for (let round = 0; round < MAX_ROUNDS && /[%\\]/.test(decoded); round++) {
    decoded = decoded
      .replace(/(?:%[\da-f]{2})+/gi, (codes) => decoder.decode(Uint8Array.fromHex(codes.replaceAll("%", ""))))
      .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
  }
  return decoded;
}

const decoder = new TextDecoder();

/** The longest text of which each word may be base64 or hexadecimal, in characters: of longer ones that takes seconds. */
const MAX_ENCODED_LENGTH = 256 * 1024;

/** What the words of a text are in base64 and in hexadecimal. Longer secrets are known in these forms anyway. */
function decodeRuns(text: string): string {
  const words = text.match(/[\w+/-]{6,256}/g)?.flatMap((word) => [word, ...word.split(/[+/]/)]) ?? [];
  const encoded = words.map((word) => word.replaceAll("-", "+").replaceAll("_", "/"))
    .filter((word) => word.length >= 6 && word.length <= 44 && word.length % 4 !== 1);
  const hexadecimal = text.match(/(?<![\da-f])(?:[\da-f]{2}){3,22}(?![\da-f])/gi) ?? [];
  const bytes = [
    ...encoded.map((word) => Uint8Array.fromBase64(word)),
    ...hexadecimal.map((word) => Uint8Array.fromHex(word)),
  ];
  return bytes.map((each) => decoder.decode(each)).join("\n");
}

function isWorthMasking(value: string): boolean {
  return value.length >= MIN_LENGTH && value.length <= MAX_SECRET_LENGTH && !COMMON.has(value.toLowerCase());
}
