/** Long packets on their way to a WebSocket: to join their parts into one string would copy megabytes, twice. */
import { Buffer } from "node:buffer";
import type { PlainBytes } from "./plain_text.ts";

/** Packets from this length on travel in parts. */
export const MIN_LONG_LENGTH = 4096;

/** A Socket.IO packet in two parts. Where a string is needed, Engine.IO joins them. */
export class LongPacket {
  /** The part before the JSON, in ASCII. */
  readonly head: string;
  readonly bytes: PlainBytes | undefined;
  readonly byteLength: number;
  readonly #json: string;

  constructor(head: string, json: string | PlainBytes) {
    const isText = typeof json === "string";
    this.head = head;
    this.bytes = isText ? undefined : json;
    this.#json = isText ? json : "";
    this.byteLength = head.length + (isText ? Buffer.byteLength(json) : json.length);
  }

  get json(): string {
    return this.bytes?.toString() ?? this.#json;
  }

  toString(): string {
    return this.head + this.json;
  }
}
