/** Reads the messages in an HTTP body, and leaves the SDK a stand-in for each: it would refuse some of them. */
import { parseJson } from "../../json/json.ts";
import { readMessages, readUnparsable, type RpcMessage } from "../json_rpc.ts";
import type { BodyFrames } from "./body_frames.ts";

const encoder = new TextEncoder();
/** An answer that no request waits for: the SDK only needs to know that there was one. */
const ANSWER = '{"jsonrpc":"2.0","id":"","result":{}}';
/** An event that nobody listens to. */
const NOTHING = "event: read\ndata:";
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** The event of HTTP with SSE that is no message. */
const ENDPOINT = /^event: ?endpoint$/;
/** The signs that JSON messages begin with; no event does. */
const JSON_BEGIN: readonly (number | undefined)[] = [0x7b, 0x5b];

export interface MessageBody {
  /** Whether it claims to be an event stream, as which the SDK reads it. */
  readonly isEventStream: boolean;
  /** Creates the frames of an event stream, or of one JSON text. */
  readonly framesOf: (form: { readonly isJson: boolean }) => BodyFrames;
  readonly onMessage: (message: RpcMessage) => void;
}

/** Frames of stand-ins. What a body is shows its beginning: some servers name the wrong type. */
export class MessageFrames implements BodyFrames {
  readonly #body: MessageBody;
  readonly #decoder = new TextDecoder();
  #frames: BodyFrames | undefined;
  #isJson = false;

  constructor(body: MessageBody) {
    this.#body = body;
  }

  push(piece: Uint8Array): Uint8Array[] {
    if (this.#frames === undefined) {
      if (BYTE_ORDER_MARK.every((byte, index) => piece[index] === byte)) piece = piece.subarray(3);
      this.#begin(piece.find((byte) => byte > 0x20));
    }
    return this.#read(this.#frames?.push(piece) ?? []);
  }

  get unfinishedBytes(): number {
    return this.#frames?.unfinishedBytes ?? 0;
  }

  end(): Uint8Array[] {
    const last = this.#read(this.#frames?.end() ?? []);
    return this.#body.isEventStream ? last : [encoder.encode(ANSWER)];
  }

  takeNoise(): number {
    return this.#frames?.takeNoise() ?? 0;
  }

  close(): void {
    this.#frames?.close();
  }

  /** Body of white space alone, so far, is what it claims to be. */
  #begin(first: number | undefined): void {
    const { isEventStream, framesOf } = this.#body;
    this.#isJson = first === undefined
      ? !isEventStream
      : JSON_BEGIN.includes(first) || !isEventStream && !/[a-z:]/.test(String.fromCharCode(first));
    this.#frames = framesOf({ isJson: this.#isJson });
  }

  #read(frames: readonly Uint8Array[]): Uint8Array[] {
    const standIns = frames.map((frame) => this.#readFrame(this.#decoder.decode(frame)));
    return this.#body.isEventStream ? standIns.map((text) => encoder.encode(`${text}\n\n`)) : [];
  }

  /** Returns what the SDK gets: the fields of the event without its message. */
  #readFrame(frame: string): string {
    const fields = this.#isJson ? [] : frame.split("\n").filter((line) => line !== "");
    if (fields.some((line) => ENDPOINT.test(line))) return frame.trimEnd();
    const data = fields.filter((line) => line.startsWith("data:")).map((line) => line.slice("data:".length));
    const isAnswer = this.#deliver(this.#isJson ? frame : data.join("\n"));
    const others = fields.filter((line) => /^(?:id|retry)\b/.test(line));
    return [...others, isAnswer ? `data: ${ANSWER}` : NOTHING].join("\n");
  }

  #deliver(text: string): boolean {
    const value = parseJson(text);
    const messages = value === undefined ? readUnparsable(text) : readMessages(value);
    for (const message of messages) this.#body.onMessage(message);
    return messages.some((message) => !("method" in message));
  }
}
