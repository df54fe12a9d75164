/** Refuses handshakes of WebSockets, also where the runtime cannot answer them. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type HttpRefusal, type UpgradeAnswer, writeAnswer } from "../../http/refusals.ts";
import { POLICY_VIOLATION } from "./frame_writer.ts";
import { acceptHandshake } from "./opening_handshake.ts";

/** Refuses a WebSocket handshake in plain HTTP: the connection is not upgraded yet. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { status, headers, body }: HttpRefusal,
): void {
  if (hidesConnection(request)) return acceptAndClose(request, socket, String(body["message"]));
  writeAnswer(socket, { status, headers, text: JSON.stringify(body) });
}

/** Refuses a WebSocket handshake with a plain text. */
export function endUpgrade(request: IncomingMessage, socket: Duplex, answer: UpgradeAnswer): void {
  if (hidesConnection(request)) return acceptAndClose(request, socket, answer.text);
  writeAnswer(socket, answer);
}

export function refusePlainUpgrade(request: IncomingMessage, socket: Duplex): void {
  endUpgrade(request, socket, { status: 404, headers: { "content-type": "text/plain" }, text: "Not found" });
}

const CLOSE_FRAME = 0x88;
const MAX_REASON_BYTES = 123;

/**
 * Whether the runtime is Deno before 2.8, on which Deno Deploy runs. There, `node:http` is served by the HTTP server of the
 * runtime, which hides the TCP connections: no `connection` event, no address of an upgraded socket, and no answer to an
 * upgrade but 101.
 */
export function hidesConnection({ complete }: { readonly complete?: boolean | undefined }): boolean {
  return complete === undefined;
}

/** Accepts a WebSocket and closes it at once with a reason: the only answer that the client gets there. */
export function acceptAndClose(
  request: Pick<IncomingMessage, "headers">,
  socket: Duplex,
  reason: string,
): void {
  socket.on("error", () => {});
  socket.write(acceptHandshake(request.headers), () => void socket.end(buildCloseFrame(reason)));
}

function buildCloseFrame(reason: string): Uint8Array {
  const text = Buffer.alloc(MAX_REASON_BYTES);
  // Writes no part of a character.
  const size = text.write(reason, "utf8");
  const head = [CLOSE_FRAME, size + 2, POLICY_VIOLATION >> 8, POLICY_VIOLATION & 0xff];
  return Buffer.concat([Buffer.from(head), text.subarray(0, size)]);
}
