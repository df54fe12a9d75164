/** Masks the texts of errors on their way to an Agent: secrets, and addresses of the Computer's own network. */
import { isIP } from "node:net";
import type { TokenBucket } from "../../async/token_bucket.ts";
import { kindOfHost } from "../../reach/addresses.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { isRecord } from "../../json/json.ts";
import type { Logger } from "../../log.ts";
import { shorten } from "../../text/text.ts";
import { MASK } from "./masking.ts";
import { mapDeep, type Redactor } from "./redaction.ts";

/** The longest text that is sent, in characters; it is cut after masking, so that no part of a secret remains. */
export const MAX_LENGTH = 16_384;
/** The most characters of a request that a text repeats, and the length of the pieces that are compared. */
const MAX_REPEATED = 200;
const PIECE_LENGTH = 32;
/** The longest request whose answer tells why it failed, in characters: the search for secrets takes time. */
const MAX_REQUEST_LENGTH = 128 * 1024;
const TOO_LONG = `Not told: the request has more than ${MAX_REQUEST_LENGTH} characters`;
const TOO_OFTEN =
  "Not told for up to a minute: too many answers would have contained a secret of the Computer";
/** The port of an address, also in a part of a URL. */
const PORT = String.raw`(?:(?::|%3A)\d{1,5}\b)?`;
/** Whatever may be an address. A version with a `v` before it is none. */
const ADDRESS = new RegExp(
  [
    String.raw`(?:(?<=%[\da-f]{2})|(?<!\d|\d\.|\bv))\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)${PORT}`,
    String.raw`\[[\da-f:.]{2,45}(?:%[\w.]{1,16})?\]${PORT}`,
    String
      .raw`(?<![\w:.])(?=[\da-f]*:[\da-f]*:)[\da-f:.]{1,44}(?:[\da-f]|::)(?:%\w{1,16}${PORT})?(?!\w|:[\da-f:])`,
    String.raw`(?<=\/\/|@|%2F|%40)localhost\b${PORT}`,
    String.raw`\blocalhost(?::|%3A)\d{1,5}\b`,
  ].join("|"),
  "gi",
);

/** The address in a match, without its port; `undefined` for a time and whatever else only looks like one. */
function hostOf(match: string): string | undefined {
  const [host] = /^(?:localhost|\d+(?:\.\d+){3})|(?<=^\[)[^\]]+/i.exec(match) ?? [match];
  // Node.js writes "::ffff:10.0.0.5:5432", without brackets.
  return [host, host.replace(/:\d{0,5}$/, "")].map((each) => each.toLowerCase())
    .find((each) => each === "localhost" || isIP(each) !== 0);
}

/** What the answers to an office share. */
export interface AgentTextsContext {
  readonly redactor: Redactor;
  /** The answers in which a secret may be masked: an Agent that gets more may be trying which of its guesses are. */
  readonly maskings: TokenBucket;
  readonly log: Logger;
}

/**
 * What an Agent is told in answer to one request. What stands in the request itself is not masked, so that no answer
 * depends on whether the request has guessed a secret.
 */
export class AgentTexts {
  /** `undefined` when it is too long to be searched. */
  readonly #request: string | undefined;
  readonly #context: AgentTextsContext;
  #hasMasked = false;
  #found: ReturnType<Redactor["findIn"]> | undefined;
  #addresses: ReadonlySet<string | undefined> | undefined;
  #pieces: ReadonlySet<string> | undefined;

  constructor(request: unknown, context: AgentTextsContext) {
    this.#request = textIn(request);
    this.#context = context;
  }

  /** Whether the request contains a secret that no honest request contains by chance. */
  get isSuspicious(): boolean {
    return this.#known.isGuarded;
  }

  /** A text with `***` for secrets and addresses, cut when it is long. */
  mask(text: string): string {
    const { redactor, maskings, log } = this.#context;
    if (this.#withheld !== undefined) return this.#withheld;
    const redacted = redactor.redactForAgent(text, this.#known.found);
    if (redacted !== text && !this.#hasMasked) {
      this.#hasMasked = true;
      maskings.take();
      log.warn("a secret was masked in an answer to the office", {
        errors_withheld_ms: maskings.waitMs(),
      });
    }
    const masked = shorten(redacted, 2 * MAX_LENGTH)
      .replace(ADDRESS, (address) => this.#isHidden(address) ? MASK : address);
    return shorten(masked, MAX_LENGTH);
  }

  /** The same for the text of an error: what it repeats of a long request is cut. */
  maskFailure(text: string): string {
    return this.#withoutRepetition(this.mask(text));
  }

  /** The same for the message and the details of an error. */
  maskError(error: unknown): unknown {
    if (!(error instanceof SmcpError)) return error;
    const { code, message, details } = error;
    if (this.#withheld !== undefined) return new SmcpError(code, this.#withheld, { cause: error });
    const masked = mapDeep(details, (text) => this.maskFailure(text));
    return new SmcpError(code, this.maskFailure(message), {
      cause: error,
      ...(isRecord(masked) ? { details: masked } : {}),
    });
  }

  /** What is told instead of any text, where that could tell which guesses are masked. */
  get #withheld(): string | undefined {
    if (this.#request === undefined) return TOO_LONG;
    return !this.#hasMasked && this.#context.maskings.waitMs() > 0 ? TOO_OFTEN : undefined;
  }

  get #known(): ReturnType<Redactor["findIn"]> {
    return this.#found ??= this.#context.redactor.findIn(this.#request ?? "");
  }

  #isHidden(address: string): boolean {
    this.#addresses ??= new Set(this.#request?.match(ADDRESS)?.map(hostOf));
    const host = hostOf(address);
    return host !== undefined && kindOfHost(host) !== "public" && !this.#addresses.has(host);
  }

  #withoutRepetition(text: string): string {
    const request = this.#request ?? "";
    if (Math.min(request.length, text.length) <= MAX_REPEATED) return text;
    this.#pieces ??= new Set(request.match(new RegExp(`[^]{${PIECE_LENGTH}}`, "g")));
    let kept = "";
    let repeated = 0;
    for (let at = 0; at < text.length;) {
      const isRepeated = this.#pieces.has(text.slice(at, at + PIECE_LENGTH));
      if (isRepeated) repeated += PIECE_LENGTH;
      const isLeftOut = isRepeated && repeated > MAX_REPEATED;
      kept += isLeftOut
        ? (kept.endsWith("…") ? "" : "…")
        : text.slice(at, at + (isRepeated ? PIECE_LENGTH : 1));
      at += isRepeated ? PIECE_LENGTH : 1;
    }
    return kept.toWellFormed();
  }
}

/** How deep a request is searched; deeper ones are refused. */
const MAX_DEPTH = 256;

/** All texts and numbers in a value, and behind them the names of its members: values stay side by side. */
function textIn(value: unknown): string | undefined {
  const values: string[] = [];
  const names: string[] = [];
  let left = MAX_REQUEST_LENGTH;
  const add = (texts: string[], text: string): void => {
    // One wide character may stand for many.
    left -= text.length > left ? text.length : text.normalize("NFKC").length;
    texts.push(text);
  };
  const visit = (item: unknown, depth: number): void => {
    if (typeof item === "string" || typeof item === "number") add(values, String(item));
    if (typeof item !== "object" || item === null || ArrayBuffer.isView(item) || depth > MAX_DEPTH) return;
    for (const member of Array.isArray(item) ? item : Object.keys(item)) {
      if (left < 0) return;
      if (!Array.isArray(item)) add(names, member);
      visit(isRecord(item) ? item[member] : member, depth + 1);
    }
  };
  visit(value, 0);
  return left < 0 ? undefined : [...values, ...names].join("\n");
}
