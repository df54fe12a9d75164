/**
 * The ids that Socket.IO gives out. It counts connections and requests of all clients in them, so that a member could tell
 * from its own ids how busy other offices are.
 */
import { randomBytes } from "node:crypto";

const ID_BYTES = 15;

/** The members of an Engine.IO server that are used here. */
interface EngineServer {
  generateId: (...args: never[]) => string | PromiseLike<string>;
}

export function hideSessionCount(engine: EngineServer): void {
  engine.generateId = randomId;
}

/**
 * Gives a socket that is not connected yet a new id, random in all of its bytes.
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

/**
 * Makes `id` the one of the next ack.
 *
 * Private member of Socket.IO: the id of the next ack of a namespace. Each socket has acks of its own, so an id needs to be
 * unique only among those of one socket.
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

function randomId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}
