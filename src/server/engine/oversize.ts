/**
 * Messages that are larger than the limit. The WebSocket skips them and keeps the beginning, so that the parser can answer
 * their sender.
 */
import { Buffer } from "node:buffer";

export interface OversizeMessage {
  readonly beginning: string;
  readonly sizeBytes: number;
}

const messages = new WeakMap<Uint8Array, OversizeMessage>();

/** Returns what stands for the message: Engine.IO passes binary data on as it is. */
export function toStandIn(message: OversizeMessage): Buffer {
  const standIn = Buffer.alloc(0);
  messages.set(standIn, message);
  return standIn;
}

/** Returns the message that this data stands for, if it does. */
export function oversizeOf(data: Uint8Array): OversizeMessage | undefined {
  return data.byteLength === 0 ? messages.get(data) : undefined;
}
