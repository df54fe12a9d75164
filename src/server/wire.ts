/** A connection's Socket.IO side. */

type Ack = (...answer: unknown[]) => void;

/** What a connection needs of Socket.IO. */
export interface Wire {
  readonly sid: string;
  /** Sends an event; throws a `RangeError` when its body is nested too deep to be written. */
  emit(event: string, body: unknown, ack?: Ack): void;
  /** Drops an ack that nobody waits for any longer. */
  forgetAck(ack: Ack): void;
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
export function toWire(socket: SocketLike): Wire {
  return {
    sid: socket.id,
    emit(event, body, ack) {
      if (ack === undefined) socket.emit(event, body);
      else socket.emit(event, body, ack);
    },
    forgetAck: (ack) => forgetAck(socket, ack),
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
function forgetAck(socket: SocketLike, forgotten: Ack): void {
  const acks: unknown = Reflect.get(socket, "acks");
  if (!(acks instanceof Map)) return;
  for (const [id, ack] of acks) {
    if (ack === forgotten) return void acks.delete(id);
  }
}
