import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Account, Budget, Holding } from "../../../../src/server/engine/budget.ts";
import { FrameReader } from "../../../../src/server/engine/frame_reader.ts";
import type { MessageLimits } from "../../../../src/server/engine/incoming.ts";
import { RelayedText } from "../../../../src/server/engine/long_text.ts";
import { Random } from "../../../fixtures/random.ts";

const BOUNDS = { maxPayloadBytes: 300_000, maxSkippedBytes: 1_000_000 };
const MASK = [0x9a, 0x01, 0xff, 0x40];
const [TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG] = [1, 2, 0, 8, 9, 10];

function openHolding(budget = new Budget(100_000_000)): Holding {
  const account = new Account(budget);
  account.assignTo({ incompleteBytes: 0 });
  return new Holding(account);
}

/** Records what a reader delivers. */
function openReader(limits: Partial<MessageLimits> = {}) {
  const events: unknown[][] = [];
  const reader = new FrameReader({
    onText: (text) => void events.push(["text", text]),
    onMessage(message) {
      if (message instanceof RelayedText) events.push(["long", message.toString(), message.short]);
      else if (message instanceof Uint8Array) events.push(["binary", [...message]]);
      else if (typeof message !== "string") events.push(["oversize", message.beginning, message.sizeBytes]);
    },
    onPing: (payload) => void events.push(["ping", payload.toString()]),
    onClose: (code) => void events.push(["close", code]),
    onFailure: (code) => void events.push(["failure", code]),
  }, { ...BOUNDS, memory: openHolding(), ...limits });
  return { events, reader };
}

/** A masked frame. */
function frame(payload: string | Uint8Array, { opcode = TEXT, isFinal = true } = {}): Buffer {
  const bytes = Buffer.from(payload);
  const length = bytes.length < 126
    ? [bytes.length]
    : bytes.length < 65_536
    ? [126, bytes.length >> 8, bytes.length & 255]
    : [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (bytes.length >>> shift) & 255)];
  const [first = 0, ...rest] = length;
  const masked = bytes.map((byte, index) => byte ^ (MASK[index % 4] ?? 0));
  return Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | first, ...rest, ...MASK, ...masked]);
}

function read(frames: readonly Uint8Array[]): unknown[][] {
  const { events, reader } = openReader();
  reader.push(Buffer.concat(frames));
  return events;
}

Deno.test("texts and binary messages of all lengths arrive as they were sent", () => {
  for (const length of [0, 1, 125, 126, 255, 256, 4_097, 65_535, 65_536, 200_000]) {
    const text = "aé中".repeat(length).slice(0, length / 3);
    assertEquals(read([frame(text)]), [["text", text]]);
    const bytes = Uint8Array.from({ length }, (_, index) => index);
    assertEquals(read([frame(bytes, { opcode: BINARY })]), [["binary", [...bytes]]]);
  }
});

Deno.test("it makes no difference where the chunks of frames end", () => {
  const random = new Random(12);
  const texts = ["", "4x", "é".repeat(700), "x".repeat(9_000), "中".repeat(30_000)];
  const frames = texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    const cut = random.below(bytes.length + 1);
    return [
      frame(text),
      frame("ping", { opcode: PING }),
      frame(bytes.subarray(0, cut), { isFinal: false }),
      frame("", { opcode: PONG }),
      frame(bytes.subarray(cut), { opcode: CONTINUATION }),
      frame(bytes, { opcode: BINARY }),
    ];
  });
  const all = Buffer.concat([...frames, frame(Buffer.from([3, 232, 111, 107]), { opcode: CLOSE })]);
  const expected = read([Buffer.from(all)]);
  assertEquals(expected.at(-1), ["close", 1000]);
  assertEquals(expected.length, 4 * texts.length + 1);
  for (let round = 0; round < 20; round++) {
    const { events, reader } = openReader();
    const longest = random.pick([1, 3, 50, 5_000, 70_000]);
    for (let at = 0; at < all.length;) {
      const end = at + random.integer(1, longest);
      reader.push(Buffer.from(all.subarray(at, end)));
      at = end;
    }
    assert(JSON.stringify(events) === JSON.stringify(expected), `chunks of up to ${longest} bytes`);
  }
});

Deno.test("a text over the limit is skipped, and its beginning delivered with its size", () => {
  const { events, reader } = openReader({ maxPayloadBytes: 5_000, maxSkippedBytes: 50_000 });
  const large = `42["x",${"y".repeat(20_000)}`;
  for (const byte of [frame(large), frame("next")]) reader.push(byte);
  reader.push(frame(large.slice(0, 4_000), { isFinal: false }));
  for (let at = 4_000; at < 20_000; at += 4_000) {
    reader.push(frame(large.slice(at, at + 4_000), { opcode: CONTINUATION, isFinal: at >= 16_000 }));
  }
  assertEquals(events.map(([kind]) => kind), ["oversize", "text", "oversize"]);
  const [, beginning, size] = events[0] ?? [];
  assertEquals([String(beginning).slice(0, 7), size], ['2["x",y', large.length]);
  assert(String(beginning).length <= 1_024);
});

Deno.test("a message of many small frames is copied a few times, not for each frame", () => {
  const [largeBytes, count] = [4 * 1024 * 1024, 1_000];
  const { events, reader } = openReader({ maxPayloadBytes: 2 * largeBytes, maxSkippedBytes: 4 * largeBytes });
  const allocate = Buffer.allocUnsafeSlow;
  let allocatedBytes = 0;
  Buffer.allocUnsafeSlow = (size) => {
    allocatedBytes += size;
    return allocate(size);
  };
  try {
    reader.push(frame("x".repeat(largeBytes), { isFinal: false }));
    for (let sent = 0; sent < count; sent++) {
      reader.push(frame("y", { opcode: CONTINUATION, isFinal: false }));
    }
    reader.push(frame("z", { opcode: CONTINUATION }));
  } finally {
    Buffer.allocUnsafeSlow = allocate;
  }
  assertEquals(events.map(([kind, text]) => [kind, String(text).length]), [["text", largeBytes + count + 1]]);
  assert(allocatedBytes < 8 * largeBytes, `${allocatedBytes} bytes`);
});

Deno.test("of a message that turns out to be over the limit, only the beginning is kept", () => {
  const { events, reader } = openReader({ maxPayloadBytes: 5_000, maxSkippedBytes: 50_000 });
  reader.push(frame(`4${"x".repeat(4_990)}`, { isFinal: false }));
  reader.push(frame("y".repeat(11), { opcode: CONTINUATION }));
  reader.push(frame("next"));
  assertEquals(events, [["oversize", "x".repeat(1_023), 5_002], ["text", "next"]]);
});

Deno.test("a text over the limit that is no Engine.IO message fails with 1009 at its end", () => {
  const { events, reader } = openReader({ maxPayloadBytes: 5_000, maxSkippedBytes: 50_000 });
  const bytes = frame("x".repeat(5_001));
  reader.push(bytes.subarray(0, 5_000));
  assertEquals(events, []);
  reader.push(bytes.subarray(5_000));
  reader.push(frame("next"));
  assertEquals(events, [["failure", 1009]]);
});

Deno.test("a message that is far too large, and a binary one over the limit, fail at their header with 1009", () => {
  const limits = { maxPayloadBytes: 100, maxSkippedBytes: 400 };
  for (
    const sent of [
      [frame("x".repeat(401))],
      [frame(new Uint8Array(101), { opcode: BINARY })],
      [frame("x".repeat(300), { isFinal: false }), frame("x".repeat(200), { opcode: CONTINUATION })],
      [Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, ...MASK])],
    ]
  ) {
    const { events, reader } = openReader(limits);
    for (const bytes of sent) reader.push(bytes);
    assertEquals(events, [["failure", 1009]]);
  }
});

Deno.test("frames that break the protocol fail with 1002, and nothing behind them is read", () => {
  const broken: Readonly<Record<string, readonly Uint8Array[]>> = {
    "not masked": [Uint8Array.of(0x81, 1, 65)],
    "reserved bits": [Uint8Array.of(0xc1, 0x80, ...MASK)],
    "unknown opcode": [frame("x", { opcode: 3 })],
    "unknown control opcode": [frame("x", { opcode: 11 })],
    "fragmented control frame": [frame("x", { opcode: PING, isFinal: false })],
    "long control frame": [frame("x".repeat(126), { opcode: PING })],
    "nothing to continue": [frame("x", { opcode: CONTINUATION })],
    "a message within another": [frame("x", { isFinal: false }), frame("y")],
    "half a close code": [frame("x", { opcode: CLOSE })],
    "a close code that nobody may send": [frame(Buffer.from([3, 238]), { opcode: CLOSE })],
  };
  for (const [name, frames] of Object.entries(broken)) {
    assertEquals(read([...frames, frame("behind")]), [["failure", 1002]], name);
  }
});

Deno.test("text that is not UTF-8 fails with 1007, also where it is cut", () => {
  const whole = Buffer.from("é");
  assertEquals(read([frame("\ufffd, \ufeffé")]), [["text", "\ufffd, \ufeffé"]]);
  assertEquals(read([frame(Uint8Array.of(0xff))]), [["failure", 1007]]);
  assertEquals(read([frame(whole.subarray(0, 1))]), [["failure", 1007]]);
  assertEquals(read([frame(Uint8Array.of(3, 232, 0xff), { opcode: CLOSE })]), [["failure", 1007]]);
  const parts = [
    frame(whole.subarray(0, 1), { isFinal: false }),
    frame(whole.subarray(1), { opcode: CONTINUATION }),
  ];
  assertEquals(read(parts), [["text", "é"]]);
});

Deno.test("a close frame without a code has code 1005, and the last word", () => {
  assertEquals(read([frame("", { opcode: CLOSE }), frame("behind")]), [["close", 1005]]);
});

Deno.test("a message that is incomplete counts until it is complete, dropped or skipped, and one too many is refused", () => {
  const budget = new Budget(1_000_000);
  const account = new Account(budget);
  account.assignTo({ incompleteBytes: 0 });
  const open = () => openReader({ ...BOUNDS, memory: new Holding(account) });
  const [first, second, small, binary] = [open(), open(), open(), open()];
  const message = frame(`4${"x".repeat(199_999)}`);
  first.reader.push(Buffer.from(message.subarray(0, 100_000)));
  assert(budget.usedBytes >= 99_000 && budget.usedBytes <= 200_000, `${budget.usedBytes} bytes`);
  second.reader.push(Buffer.from(message.subarray(0, 100_000)));
  second.reader.push(Buffer.from(message.subarray(100_000)));
  assertEquals(second.events, [["oversize", "x".repeat(1023), 200_000]]);
  binary.reader.push(frame(new Uint8Array(200_000), { opcode: BINARY }).subarray(0, 100_000));
  assertEquals(binary.events, [["failure", 1013]]);
  small.reader.push(frame("y".repeat(60_000)).subarray(0, 50_000));
  assertEquals(small.events, []);
  small.reader.end();
  first.reader.push(Buffer.from(message.subarray(100_000)));
  assertEquals([first.events.length, budget.usedBytes], [1, 0]);
  first.reader.push(frame("x".repeat(400_000)).subarray(0, 390_000));
  assert(budget.usedBytes <= 1024, `${budget.usedBytes} bytes of a message that is skipped`);
  first.reader.end();
  assertEquals(budget.usedBytes, 0);
});

Deno.test("the strings of a long text are cut, in one frame or in several, wherever the chunks end", () => {
  const random = new Random(5);
  for (const word of ["word", "wörd", "中文"]) {
    const text = `42/smcp,["client:x",{"text":"${`a \\"quoted\\" ${word}, `.repeat(10_000)}"}]`;
    const bytes = Buffer.from(text);
    const whole = [frame(text)];
    const parts = [
      frame(bytes.subarray(0, 70_001), { isFinal: false }),
      frame(bytes.subarray(70_001, 70_003), { opcode: CONTINUATION, isFinal: false }),
      frame("ping", { opcode: PING }),
      frame(bytes.subarray(70_003), { opcode: CONTINUATION }),
    ];
    for (const frames of [whole, parts]) {
      const all = Buffer.concat(frames);
      for (let round = 0; round < 5; round++) {
        const { events, reader } = openReader();
        const longest = random.pick([5_000, 65_536, 100_000]);
        for (let at = 0; at < all.length;) {
          const end = at + random.integer(1, longest);
          reader.push(Buffer.from(all.subarray(at, end)));
          at = end;
        }
        const [[kind, sent, short] = []] = events.filter(([kind]) => kind !== "ping");
        assertEquals([kind, sent], ["long", text.slice(1)]);
        assert(String(short).length < 6_300 && String(short).endsWith('"}]'));
      }
    }
  }
});

Deno.test("a long text that is not relayed, or not JSON, or not UTF-8, is not cut", () => {
  const long = "x".repeat(20_000);
  for (
    const text of [
      `42["x","${long}"]`,
      `42/smcp,["${long}\\x"]`,
      `42/smcp,["${long}\n"]`,
      `42/smcp,["${long}`,
    ]
  ) {
    assertEquals(read([frame(text)]), [["text", text]]);
  }
  const broken = Buffer.from(`42/smcp,["${long}"]`);
  broken[10_000] = 0xff;
  assertEquals(read([frame(broken)]), [["failure", 1007]]);
});

Deno.test("all that has arrived is counted, also in a buffer that is larger than it needs to be", () => {
  const memory = openHolding();
  const { reader } = openReader({ memory });
  const whole = frame("x".repeat(250_000));
  for (let start = 0; start < 240_000; start += 40_000) {
    reader.push(whole.subarray(start, start + 40_000));
    assert(memory.bytes >= start + 40_000 - 14, `${memory.bytes} of ${start + 40_000}`);
  }
  reader.end();
  assertEquals(memory.bytes, 0);
});
