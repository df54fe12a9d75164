/** Counts bodies over polling that have not arrived completely. One that finds no room ends its session. */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { IncompleteMessage } from "./message_shares.ts";

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
