/**
 * Counts messages that have not arrived completely where the Server's own WebSockets do not: over polling, and with the
 * engine `ws`. One that finds no room ends its session, as one that is too large does.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { IncompleteMessage, type MessageShares } from "./message_shares.ts";

/**
 * Counts the body of a request until it is answered. Counting begins with the first listener of the body: one of its own would
 * make the body flow, and Engine.IO listens only some microtasks later. In Node it lost the whole body.
 */
export function countBody(
  request: IncomingMessage,
  { response, message }: { readonly response: ServerResponse; readonly message: IncompleteMessage },
): void {
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
  readonly id: string;
  readonly transport: { readonly name: string; readonly socket?: unknown };
  once(event: "upgrade", listener: () => void): unknown;
}

/** Counts the incomplete messages of the `ws` WebSocket of a connection, from its upgrade on if it begins with polling. */
export function countFrames(connection: UpgradableConnection, shares: MessageShares): void {
  if (connection.transport.name !== "websocket") {
    return void connection.once("upgrade", () => countFrames(connection, shares));
  }
  const webSocket = connection.transport.socket;
  if (!isWebSocket(webSocket)) {
    throw new TypeError("Cannot count the bytes of WebSocket messages: the package ws has changed");
  }
  const message = new IncompleteMessage(shares, connection.id);
  const { _receiver: receiver } = webSocket;
  // After the listener of `ws`, which has put the chunk into the receiver.
  webSocket._socket.on("data", () => {
    if (!message.hold(receiver._messageLength + receiver._bufferedBytes)) webSocket.terminate();
  });
  webSocket.once("close", () => message.hold(0));
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
