/** A connection's Socket.IO side. */
import type { Outbox } from "./outbox.ts";
import type { Sent } from "./pending.ts";

type Ack = (...answer: unknown[]) => void;

/** What a connection needs of Socket.IO. All that sends throws a `RangeError` for what is nested too deep to be written. */
export interface Wire {
  readonly sid: string;
  /** Sends an event that asks for no answer; throws a 413 when too much waits for the peer. */
  emit(event: string, body: unknown): void;
  /** Sends an event that asks for an answer; throws a 413 when too much waits for the peer. */
  ask(event: string, body: unknown, ack: Ack): Sent;
  /** Answers; throws a 413 when too much waits for the peer. */
  answer(ack: Ack, answer: readonly unknown[]): void;
  /** Drops an ack that nobody waits for any longer. */
  forgetAck(ackId: number): void;
  enterRoom(officeId: string): void;
  leaveRoom(officeId: string): void;
  close(): void;
}

/** As much of a Socket.IO socket as this needs. */
export interface SocketLike {
  readonly id: string;
  emit(event: string, ...args: unknown[]): unknown;
  join(room: string): unknown;
  leave(room: string): unknown;
  disconnect(close: boolean): unknown;
}

/** The wire of a socket. */
export function toWire(socket: SocketLike, outbox: Pick<Outbox, "push">): Wire {
  const forgetAck = (ackId: number) => void acksOf(socket)?.delete(ackId);
  return {
    sid: socket.id,
    emit: (event, body) => void outbox.push(() => socket.emit(event, body)),
    ask(event, body, ack) {
      const ackId = nextAckId(socket);
      try {
        return { ackId, bytes: outbox.push(() => socket.emit(event, body, ack)) };
      } catch (error) {
        forgetAck(ackId);
        throw error;
      }
    },
    answer: (ack, answer) => void outbox.push(() => ack(...answer)),
    forgetAck,
    // At once: Socket.IO's memory of rooms is this process's own.
    enterRoom: (officeId) => void socket.join(roomOf(officeId)),
    leaveRoom: (officeId) => void socket.leave(roomOf(officeId)),
    close: () => void socket.disconnect(true),
  };
}

/** The prefix keeps an office id from ever being a socket id, which Socket.IO has as a room of its own. */
export function roomOf(officeId: string): string {
  return `office:${officeId}`;
}

/**
 * Socket.IO keeps an ack until it is called. Its own `timeout()` would forget it, but with a timer for each request that
 * outlives the connection.
 */
function acksOf(socket: SocketLike): Map<unknown, unknown> | undefined {
  const acks: unknown = Reflect.get(socket, "acks");
  return acks instanceof Map ? acks : undefined;
}

/** The id of the next ack of a namespace. Socket.IO has no API for it, and searching for an ack takes long. */
function nextAckId(socket: SocketLike): number {
  // Not by `Reflect.get`, which takes far longer.
  const namespace = "nsp" in socket ? socket.nsp : undefined;
  const hasIds = typeof namespace === "object" && namespace !== null && "_ids" in namespace;
  if (hasIds && typeof namespace._ids === "number") return namespace._ids;
  throw new TypeError("Cannot tell the id of an ack: this version of Socket.IO keeps it elsewhere");
}
