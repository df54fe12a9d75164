/**
 * Messages that a client sends between its CONNECT packet and its admission. Socket.IO would close the connection, but the
 * clients of some languages do not wait, so the Server holds these messages back until it has decided.
 */
import { Buffer } from "node:buffer";

/** The content of an Engine.IO packet of type "message": a packet of Socket.IO, or one of its attachments. */
export type Message = string | Uint8Array;

type MessageListener = (message: Message) => void;

/** The members of an Engine.IO connection that are used here. */
export interface MessageSource {
  readonly readyState: string;
  listeners(event: "data"): unknown[];
  removeAllListeners(event: "data"): unknown;
  on(event: "data", listener: MessageListener): unknown;
  off(event: "data", listener: MessageListener): unknown;
  emit(event: "data", message: Message): unknown;
}

/** Takes the messages of a connection in place of Socket.IO until {@linkcode HeldMessages.deliver}. */
export class HeldMessages {
  readonly #source: MessageSource;
  readonly #listeners: readonly MessageListener[];
  readonly #hold: MessageListener = (message) => void this.#messages?.push(copyOf(message));
  /** `undefined` after they were discarded. */
  #messages: Message[] | undefined = [];

  constructor(source: MessageSource) {
    this.#source = source;
    // node:events types them as Function.
    this.#listeners = source.listeners("data") as MessageListener[];
    source.removeAllListeners("data");
    source.on("data", this.#hold);
  }

  /** Delivers the held messages to Socket.IO in their order, and connects it for later ones. */
  deliver(): void {
    const messages = this.#messages ?? [];
    this.discard();
    this.#source.off("data", this.#hold);
    for (const listener of this.#listeners) this.#source.on("data", listener);
    for (const message of messages) {
      // Socket.IO may have closed the connection because of a message.
      if (this.#source.readyState !== "open") return;
      this.#source.emit("data", message);
    }
  }

  /** Drops the held messages and all later ones. */
  discard(): void {
    this.#messages = undefined;
  }
}

/** Copies bytes, since they may be a small part of a large buffer that they would keep in memory. */
function copyOf(message: Message): Message {
  return typeof message === "string" ? message : Buffer.from(Uint8Array.from(message).buffer);
}
