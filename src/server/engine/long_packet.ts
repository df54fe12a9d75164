/** Long packets on their way to a WebSocket: to join their parts into one string would copy megabytes, twice. */
import { Buffer } from "node:buffer";

/** Packets from this length on travel in parts. */
export const MIN_LONG_LENGTH = 4096;

/** A Socket.IO packet in two parts. Where a string is needed, Engine.IO joins them. */
export class LongPacket {
  /** The part before the JSON, in ASCII. */
  readonly head: string;
  readonly json: string;
  /** Its size in UTF-8. */
  readonly byteLength: number;

  constructor(head: string, json: string) {
    this.head = head;
    this.json = json;
    this.byteLength = head.length + Buffer.byteLength(json);
  }

  toString(): string {
    return this.head + this.json;
  }
}
