import { assert, assertEquals } from "@std/assert";
import { Duplex } from "node:stream";
import { hidesConnection, refuseUpgrade } from "../../../../src/server/engine/opening_handshake.ts";

Deno.test("hidesConnection() is true where node:http does not say whether a request is complete", () => {
  assertEquals([{}, { complete: false }, { complete: true }].map(hidesConnection), [true, false, false]);
});

Deno.test("refuseUpgrade() answers 101 there, and a Close frame whose reason fits, with no half character", async () => {
  const written: Uint8Array[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const request = { headers: { "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" } };
  const finished = new Promise((resolve) => socket.once("finish", resolve));
  refuseUpgrade(request, socket, { status: 403, headers: {}, text: "x" + "é".repeat(100) });
  await finished;
  const [head = new Uint8Array(), frame = new Uint8Array()] = written;
  // The key and its answer are the example of RFC 6455.
  assert(new TextDecoder().decode(head).includes("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  assertEquals([...frame.subarray(0, 4)], [0x88, frame.length - 2, 0x03, 0xf0]);
  assertEquals(new TextDecoder("utf-8", { fatal: true }).decode(frame.subarray(4)), "x" + "é".repeat(61));
});
