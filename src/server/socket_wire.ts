/** Adapts the sockets of Socket.IO to {@linkcode Wire}. */
import type { Ack, Wire } from "./relay/connection.ts";
import type { Outbox } from "./outbox.ts";
import type { Sent } from "./relay/pending_requests.ts";
import { setNextAckId } from "./sockets/ids.ts";

/** The members of a Socket.IO socket that are used here. */
export interface SocketLike {
  readonly id: string;
  emit(event: string, ...args: unknown[]): unknown;
  join(room: string): unknown;
  leave(room: string): unknown;
  disconnect(close: boolean): unknown;
}

export class SocketWire implements Wire {
  readonly #socket: SocketLike;
  readonly #outbox: Pick<Outbox, "push">;
  #nextAckId = 0;

  constructor(socket: SocketLike, outbox: Pick<Outbox, "push">) {
    this.#socket = socket;
    this.#outbox = outbox;
  }

  get sid(): string {
    return this.#socket.id;
  }

  emit(event: string, body: unknown): void {
    this.#outbox.push(() => this.#socket.emit(event, body));
  }

  ask(event: string, body: unknown, ack: Ack): Sent {
    const ackId = this.#nextAckId++;
    setNextAckId(this.#socket, ackId);
    try {
      return { ackId, bytes: this.#outbox.push(() => this.#socket.emit(event, body, ack)) };
    } catch (error) {
      this.forgetAck(ackId);
      throw error;
    }
  }

  answer(ack: Ack, answer: readonly unknown[]): void {
    this.#outbox.push(() => ack(...answer));
  }

  forgetAck(ackId: number): void {
    acksOf(this.#socket)?.delete(ackId);
  }

  // Synchronous with the in-memory adapter of Socket.IO.
  enterRoom(officeId: string): void {
    this.#socket.join(roomOf(officeId));
  }

  leaveRoom(officeId: string): void {
    this.#socket.leave(roomOf(officeId));
  }

  close(): void {
    this.#socket.disconnect(true);
  }

  drop(): void {
    if (!dropClient(this.#socket)) this.close();
  }
}

/** The Socket.IO room of an office. The prefix keeps it apart from the room that each socket id is. */
export function roomOf(officeId: string): string {
  return `office:${officeId}`;
}

/**
 * Private member of Socket.IO, which keeps each ack until it is called. Its `timeout()` would free the ack, but it sets
 * one timer per request, which outlives the connection.
 */
function acksOf(socket: SocketLike): Map<unknown, unknown> | undefined {
  const acks: unknown = Reflect.get(socket, "acks");
  return acks instanceof Map ? acks : undefined;
}

/**
 * Closes the connection as the network would. The method of Socket.IO's `Client` is private; the public ones send a
 * disconnect packet, or leave the membership standing until the last byte is read.
 */
function dropClient(socket: SocketLike): boolean {
  const client: unknown = Reflect.get(socket, "client");
  const close: unknown = typeof client === "object" && client !== null
    ? Reflect.get(client, "close")
    : undefined;
  if (typeof close !== "function") return false;
  Reflect.apply(close, client, []);
  return true;
}

/** What Socket.IO keeps of the handshake of each connection, for all of them. */
const NO_HANDSHAKE = Object.freeze({});
const NO_DATA = Object.freeze({});

/** Frees the credentials, which may be large, and what Socket.IO keeps besides them. */
export function forgetHandshake(socket: { data: unknown }): void {
  socket.data = NO_DATA;
  // Read-only for users of Socket.IO, which itself does not read it again.
  Reflect.set(socket, "handshake", NO_HANDSHAKE);
}
