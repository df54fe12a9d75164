import { assertEquals } from "@std/assert";
import { FrameCutter, NUMBER, OutgoingFrame } from "../../../bench/relay/frames.ts";

/** Takes the mask away, as a Server does; the cutter reads what Servers send, which is not masked. */
function unmask(frame: Uint8Array): Uint8Array {
  const length = (frame[1] ?? 0) & 0x7f;
  const headerLength = length === 126 ? 4 : length === 127 ? 10 : 2;
  const mask = frame.subarray(headerLength, headerLength + 4);
  const payload = frame.subarray(headerLength + 4).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  const header = frame.slice(0, headerLength);
  header[1] = length;
  return Uint8Array.of(...header, ...payload);
}

function cut(
  chunks: readonly Uint8Array[],
): { opcode: number; text: string | undefined; sizeBytes: number }[] {
  const messages: { opcode: number; text: string | undefined; sizeBytes: number }[] = [];
  const cutter = new FrameCutter(({ opcode, text, sizeBytes }) => messages.push({ opcode, text, sizeBytes }));
  cutter.keepsTexts = true;
  for (const chunk of chunks) cutter.push(chunk);
  return messages;
}

Deno.test("OutgoingFrame writes a number wherever the template has one", () => {
  const frame = new OutgoingFrame(`42/smcp,${NUMBER}["e",{"req_id":"r${NUMBER}","ü":1}]`, { width: 4 });
  frame.setNumber(1234);
  frame.setNumber(57);
  assertEquals(cut([unmask(frame.bytes)])[0]?.text, '42/smcp,0057["e",{"req_id":"r0057","ü":1}]');
});

Deno.test("FrameCutter reads messages of all sizes of headers, wherever they are cut", () => {
  for (const length of [0, 125, 126, 65_535, 65_536]) {
    const bytes = unmask(new OutgoingFrame("x".repeat(length)).bytes);
    for (const at of [1, 2, 5, 11].filter((index) => index < bytes.length)) {
      const [message, ...more] = cut([bytes.subarray(0, at), bytes.subarray(at)]);
      assertEquals([message?.sizeBytes, more], [length, []]);
    }
  }
});

Deno.test("FrameCutter joins the frames of a message, around a ping between them", () => {
  const frames = [Uint8Array.of(0x01, 1, 0x61), Uint8Array.of(0x89, 1, 0x70), Uint8Array.of(0x80, 1, 0x62)];
  assertEquals(cut(frames), [
    { opcode: 9, text: "p", sizeBytes: 1 },
    { opcode: 1, text: "ab", sizeBytes: 2 },
  ]);
});

Deno.test("OutgoingFrame keeps the bytes of a pong, which need not be UTF-8", () => {
  const frame = unmask(new OutgoingFrame(Uint8Array.of(0xff, 0x00, 0x80), { opcode: 0xa }).bytes);
  assertEquals(frame, Uint8Array.of(0x8a, 3, 0xff, 0x00, 0x80));
});
