/**
 * What a client sends between its CONNECT and the Server's answer. Socket.IO ends a connection for that, but the clients
 * of some languages do not wait for the answer, so the Server keeps these messages until it has decided.
 */
import { Buffer } from "node:buffer";

/** The content of an Engine.IO packet of type "message": a packet of Socket.IO, or one of its attachments. */
export type Message = string | Uint8Array;

type MessageListener = (message: Message) => void;

/** As much of an Engine.IO connection as this needs. */
export interface MessageSource {
  readonly readyState: string;
  listeners(event: "data"): unknown[];
  removeAllListeners(event: "data"): unknown;
  on(event: "data", listener: MessageListener): unknown;
  off(event: "data", listener: MessageListener): unknown;
  emit(event: "data", message: Message): unknown;
}

/** Stands between a connection and Socket.IO from its construction until {@linkcode HeldMessages.deliver}. */
export class HeldMessages {
  readonly #source: MessageSource;
  readonly #listeners: readonly MessageListener[];
  readonly #hold: MessageListener = (message) => void this.#messages?.push(copyOf(message));
  /** `undefined` once they are discarded. */
  #messages: Message[] | undefined = [];

  constructor(source: MessageSource) {
    this.#source = source;
    // node:events types them as Function, which says less.
    this.#listeners = source.listeners("data") as MessageListener[];
    source.removeAllListeners("data");
    source.on("data", this.#hold);
  }

  /** Gives Socket.IO what was kept, in the order in which it came, and all that comes from now on. */
  deliver(): void {
    const messages = this.#messages ?? [];
    this.discard();
    this.#source.off("data", this.#hold);
    for (const listener of this.#listeners) this.#source.on("data", listener);
    for (const message of messages) {
      // As Engine.IO does itself: nothing is read after a message for which Socket.IO has ended the connection.
      if (this.#source.readyState !== "open") return;
      this.#source.emit("data", message);
    }
  }

  /** Forgets what was kept, and keeps nothing more. */
  discard(): void {
    this.#messages = undefined;
  }
}

/** A copy: bytes from a socket may be a small piece of a large buffer, which they would keep in memory. */
function copyOf(message: Message): Message {
  return typeof message === "string" ? message : Buffer.from(Uint8Array.from(message).buffer);
}
