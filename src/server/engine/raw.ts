/**
 * Requests and answers that the Server passes on as the text in which they came. The text was checked to be JSON with a
 * bounded depth, since a Socket.IO client ends its connection for a packet that it cannot parse: one member could otherwise
 * disconnect another.
 */
import { isRecord, MAX_RELAYED_DEPTH } from "../../json/json.ts";
import { fromErrorAck } from "../../protocol/errors.ts";
import { A2C_INPUT_REQUIRED } from "../../protocol/questions.ts";
import type { RelayedText } from "./long_text.ts";

export type RawJson = string | RelayedText;

/**
 * The most arguments of an event or an ack. The protocol uses two. Socket.IO passes them on the stack, so that a frame with
 * some hundred thousand arguments would crash the process.
 */
export const MAX_ARGUMENTS = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** `{` and `}` differ from `[` and `]` by this bit, as do small letters from capital ones. */
const CASE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
/**
 * To search for the quote and to look for a backslash before it is slower for strings with escapes. A bounded number of them,
 * since each takes stack.
 */
const STRING_CONTENT = /[^"\\]*(?:\\.[^"\\]*){0,1000}/y;
/** Other characters cannot follow a number directly. */
const NUMBER = /[-+.\deE]+/y;
/** The shortest number that is infinite as a double is `1e309`. */
const MIN_INFINITE_LENGTH = 5;
/** The Socket.IO client of Python drops a packet with a longer integer. `JSON.stringify` writes it with an exponent. */
const MAX_INTEGER_LENGTH = 100;
/** A number without an exponent and with fewer characters is not too large. */
const MIN_LARGE_LENGTH = 309;

/** The arguments of an event or of an ack, as a list in JSON. For an event, its name is the first item. */
abstract class RawArguments {
  readonly #content: RawJson;

  constructor(content: RawJson) {
    this.#content = content;
  }

  get content(): RawJson {
    return this.#content;
  }

  /** The JSON as text; read it before the content is sent. */
  get json(): string {
    return this.#content.toString();
  }

  /** The bytes of the JSON; the characters where it is a text. */
  get size(): number {
    return typeof this.#content === "string" ? this.#content.length : this.#content.byteLength;
  }
}

export class RawRequest extends RawArguments {
  /** The members of the body that routing needs; the body itself when it is not an object. */
  readonly fields: unknown;
  /** Whether the body is nested deeper than a message may be. */
  readonly isTooDeep: boolean;

  /** The body is not kept. */
  constructor(json: RawJson, { body, isTooDeep }: { readonly body: unknown; readonly isTooDeep: boolean }) {
    super(json);
    this.fields = fieldsOf(body);
    this.isTooDeep = isTooDeep;
  }
}

export class RawAnswer extends RawArguments {
  readonly errorCode: number | undefined;

  /** @param first The first argument, parsed, which is not kept. */
  constructor(json: RawJson, first: unknown) {
    super(json);
    this.errorCode = readErrorCode(first);
  }
}

/** The code of the error that an answer is, or of the failed tool call that it tells of. An open question is neither. */
export function readErrorCode(first: unknown): number | undefined {
  const error = fromErrorAck(first);
  if (error !== undefined) return error.code;
  const meta = isRecord(first) && first["isError"] === true ? first["meta"] : undefined;
  if (!isRecord(meta) || meta[A2C_INPUT_REQUIRED] !== undefined) return undefined;
  const code = meta["error_code"];
  return typeof code === "number" ? code : undefined;
}

/** Returns whether these arguments of a packet are sent as the text in which they came. */
export function rawArgumentsOf(data: readonly unknown[]): RawAnswer | RawRequest | undefined {
  const [first, second] = data;
  if (first instanceof RawAnswer) return first;
  return second instanceof RawRequest ? second : undefined;
}

export function routingFieldsOf(body: unknown): unknown {
  return body instanceof RawRequest ? body.fields : body;
}

function fieldsOf(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { agent, computer, req_id, timeout } = body;
  const fields: Record<string, unknown> = { agent, computer, req_id };
  // A member that is present and undefined would not be JSON.
  if (timeout !== undefined) fields["timeout"] = timeout;
  return fields;
}

export interface CheckedArguments {
  readonly json: RawJson;
  readonly values: readonly unknown[];
  readonly isTooDeep: boolean;
}

/** Parses arguments whose long strings may be cut, and writes the whole anew if a reader of another language could refuse it. */
export function checkArguments(text: string, whole: RawJson): CheckedArguments {
  const values: unknown = JSON.parse(text);
  if (!Array.isArray(values)) throw new SyntaxError("The arguments are not a list");
  if (values.length > MAX_ARGUMENTS) throw new RangeError("Too many arguments");
  const flaw = findFlaw(text);
  return {
    json: flaw === "number" ? JSON.stringify(JSON.parse(whole.toString())) : whole,
    values,
    isTooDeep: flaw === "depth",
  };
}

/**
 * Finds in a JSON text what is valid but no reader has to accept: too many levels of lists and objects, or else a number that
 * is too long, or that `JSON.parse` reads as infinite. The text is searched and not the parsed value: of two members with the
 * same name, the value has only the last.
 */
function findFlaw(json: string): "depth" | "number" | undefined {
  let levels = 0;
  let flaw: "number" | undefined;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = endOfString(json, index + 1);
    else if ((code | CASE_BIT) === OPENING) {
      if (++levels > MAX_RELAYED_DEPTH) return "depth";
    } else if ((code | CASE_BIT) === CLOSING) levels--;
    else if (code === MINUS || isDigit(code)) {
      NUMBER.lastIndex = index;
      NUMBER.test(json);
      const end = NUMBER.lastIndex;
      if (isTooLarge(json, index, end)) flaw = "number";
      index = end - 1;
    }
  }
  return flaw;
}

function endOfString(json: string, start: number): number {
  STRING_CONTENT.lastIndex = start;
  do STRING_CONTENT.test(json); while (json.charCodeAt(STRING_CONTENT.lastIndex) === BACKSLASH);
  return STRING_CONTENT.lastIndex;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isTooLarge(json: string, start: number, end: number): boolean {
  if (end - start < MIN_INFINITE_LENGTH) return false;
  const text = json.slice(start, end);
  if (text.length > MAX_INTEGER_LENGTH && !/[.e]/i.test(text)) return true;
  if (text.length < MIN_LARGE_LENGTH && !/e/i.test(text)) return false;
  return !Number.isFinite(Number(text));
}
