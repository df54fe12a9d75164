/**
 * Requests and answers that the Server passes on as the text in which they came. The text was checked to be JSON with a
 * bounded depth, since a Socket.IO client ends its connection for a packet that it cannot parse: one member could otherwise
 * disconnect another.
 */
import { fromErrorAck } from "../protocol/errors.ts";
import { isRecord } from "../json.ts";
import type { PlainBytes } from "./engine/plain_text.ts";

export type RawJson = string | PlainBytes;

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

  get length(): number {
    return this.#content.length;
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
    this.errorCode = fromErrorAck(first)?.code;
  }
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
