/** The private members of Socket.IO that the Server changes. */
import { randomId } from "../engine/session.ts";

/** The Socket.IO room of an office. The prefix keeps it apart from the room that each socket id is. */
export function roomOf(officeId: string): string {
  return `office:${officeId}`;
}

/**
 * Frees an ack that is no longer awaited.
 *
 * Private member of Socket.IO, which keeps each ack until it is called. Its `timeout()` would free the ack, but it sets
 * one timer per request, which outlives the connection.
 */
export function forgetAck(socket: object, ackId: number): void {
  const acks: unknown = Reflect.get(socket, "acks");
  if (acks instanceof Map) acks.delete(ackId);
}

/**
 * Makes `id` the one of the next ack. Socket.IO counts the requests of all clients in one number, so that a member could tell
 * from it how busy other offices are. Each socket has acks of its own, so an id needs to be unique only among those.
 *
 * Private member of Socket.IO: the id of the next ack of a namespace.
 */
export function setNextAckId(socket: object, id: number): void {
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
