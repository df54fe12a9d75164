/**
 * Counts messages that have not arrived completely where the Server's own WebSockets do not: over polling, and with the
 * engine `ws`. One that finds no room ends its session, as one that is too large does.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { MemoryBudget } from "./memory_budget.ts";

/**
 * Counts the body of a request until it is answered. Counting begins with the first listener of the body: one of its own would
 * make the body flow, and Engine.IO listens only some microtasks later. In Node it lost the whole body.
 */
export function countBody(
  request: IncomingMessage,
  { response, memory }: { readonly response: ServerResponse; readonly memory: MemoryBudget },
): void {
  const message = new IncompleteMessage(memory);
  const onData = (chunk: string | Uint8Array) => {
    if (!message.hold(message.bytes + Buffer.byteLength(chunk))) request.socket.destroy();
  };
  const onListener = (event: string | symbol) => {
    if (event !== "data") return;
    request.off("newListener", onListener);
    request.on("data", onData);
  };
  request.on("newListener", onListener);
  // Follows "finish" as well as the loss of the connection.
  response.once("close", () => {
    // The rest of a body may come after its answer, and nothing would follow that frees it.
    request.off("newListener", onListener).off("data", onData);
    message.hold(0);
  });
}

/** The members of an Engine.IO connection that are used here. */
export interface UpgradableConnection {
  readonly transport: { readonly name: string; readonly socket?: unknown };
  once(event: "upgrade", listener: () => void): unknown;
}

/** Counts the incomplete messages of the `ws` WebSocket of a connection, from its upgrade on if it begins with polling. */
export function countFrames(connection: UpgradableConnection, memory: MemoryBudget): void {
  if (connection.transport.name !== "websocket") {
    return void connection.once("upgrade", () => countFrames(connection, memory));
  }
  const webSocket = connection.transport.socket;
  if (!isWebSocket(webSocket)) {
    throw new TypeError("Cannot count the bytes of WebSocket messages: the package ws has changed");
  }
  const message = new IncompleteMessage(memory);
  const { _receiver: receiver } = webSocket;
  // After the listener of `ws`, which has put the chunk into the receiver.
  webSocket._socket.on("data", () => {
    if (!message.hold(receiver._messageLength + receiver._bufferedBytes)) webSocket.terminate();
  });
  webSocket.once("close", () => message.hold(0));
}

/** The bytes that one connection holds of a message. */
class IncompleteMessage {
  readonly #memory: MemoryBudget;
  #bytes = 0;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts that so many bytes are held now, and returns whether there is room for them. Those of a message without room
   * count no longer: its connection ends, and until it has ended they would take the room of others.
   */
  hold(bytes: number): boolean {
    this.#memory.change(-this.#bytes);
    const isFine = this.#memory.hasCapacity(bytes);
    this.#bytes = isFine ? bytes : 0;
    this.#memory.change(this.#bytes);
    return isFine;
  }
}

/** Private members of `ws`: its TCP connection, and what it has received of a message. */
interface WebSocketOfWs {
  readonly _socket: { on(event: "data", listener: () => void): unknown };
  readonly _receiver: { readonly _messageLength: number; readonly _bufferedBytes: number };
  once(event: "close", listener: () => void): unknown;
  terminate(): unknown;
}

function isWebSocket(value: unknown): value is WebSocketOfWs {
  if (typeof value !== "object" || value === null) return false;
  const receiver: unknown = Reflect.get(value, "_receiver");
  return typeof Reflect.get(value, "_socket") === "object" && typeof receiver === "object" &&
    receiver !== null &&
    typeof Reflect.get(receiver, "_messageLength") === "number" &&
    typeof Reflect.get(receiver, "_bufferedBytes") === "number";
}
