/** Adapts the sockets of Socket.IO to {@linkcode Wire}. The private members of Socket.IO that the Server changes are all here. */
import type { Account } from "./engine/budget.ts";
import { type EngineSession, randomId } from "./engine/session.ts";
import type { Ack, Wire } from "./relay/connection.ts";
import type { Answer, Sent } from "./relay/pending_requests.ts";

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
  readonly #session: Pick<EngineSession, "account" | "outbox" | "close">;
  #nextAckId = 0;

  constructor(socket: SocketLike, session: Pick<EngineSession, "account" | "outbox" | "close">) {
    this.#socket = socket;
    this.#session = session;
  }

  get sid(): string {
    return this.#socket.id;
  }

  get account(): Account {
    return this.#session.account;
  }

  emit(event: string, body: unknown): void {
    this.#session.outbox.push(() => this.#socket.emit(event, body));
  }

  ask(event: string, body: unknown, ack: Ack): Sent {
    const ackId = this.#nextAckId++;
    setNextAckId(this.#socket, ackId);
    try {
      return { ackId, bytes: this.#session.outbox.push(() => this.#socket.emit(event, body, ack)) };
    } catch (error) {
      this.forgetAck(ackId);
      throw error;
    }
  }

  answer(ack: Ack, answer: Answer): void {
    this.#session.outbox.push(() => ack(...answer));
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
    this.#session.close("forced server close");
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
 * Makes `id` the one of the next ack. Socket.IO counts the requests of all clients in one number, so that a member could tell
 * from it how busy other offices are. Each socket has acks of its own, so an id needs to be unique only among those.
 *
 * Private member of Socket.IO: the id of the next ack of a namespace.
 */
function setNextAckId(socket: object, id: number): void {
  // `Reflect.get` would be much slower.
  const namespace = "nsp" in socket ? socket.nsp : undefined;
  const hasIds = typeof namespace === "object" && namespace !== null && "_ids" in namespace;
  if (!hasIds || typeof namespace._ids !== "number") {
    throw new TypeError("Cannot set the id of an ack: this version of Socket.IO keeps it elsewhere");
  }
  namespace._ids = id;
}

/**
 * Gives a socket that is not connected yet a new id, random in all of its bytes: Socket.IO puts a counter in it.
 *
 * Private member of Socket.IO: the sockets of a namespace that are not connected yet, by id.
 */
export function hideSocketCount(socket: { readonly id: string; readonly nsp: object }): void {
  const waiting: unknown = Reflect.get(socket.nsp, "_preConnectSockets");
  if (!(waiting instanceof Map)) {
    throw new TypeError("Cannot change the id of a socket: this version of Socket.IO keeps it elsewhere");
  }
  waiting.delete(socket.id);
  Reflect.set(socket, "id", randomId());
  waiting.set(socket.id, socket);
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
