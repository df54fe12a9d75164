/** Attacker: anybody who can reach the port, or a member. It breaks the rules of WebSocket frames */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { SmcpServer } from "../../server.ts";
import { within } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";
import { RawMember } from "./_raw_member.ts";
import {
  concat,
  frame,
  frameHead,
  openWebSocket,
  PING_FRAME,
  PONG_FRAME,
  RawConnection,
  toText,
  UPGRADE_HEADERS,
  WEBSOCKET,
} from "./_raw_http.ts";

const MIB = 1024 * 1024;
const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;

/** Becomes a member on this connection. */
async function connect(connection: RawConnection): Promise<void> {
  connection.write(frame("40/smcp,"));
  await connection.until("admission", (text) => text.includes("40/smcp,{"));
}

/** The code of the close frame at the end of what was received. */
function closeCodeOf(received: string): number {
  const at = received.lastIndexOf("\x88\x02");
  return at < 0 ? 0 : received.charCodeAt(at + 2) << 8 | received.charCodeAt(at + 3);
}

const BROKEN: Readonly<Record<string, readonly [code: number, bytes: Uint8Array]>> = {
  "an unmasked frame": [1002, Uint8Array.of(0x81, 1, 52)],
  "reserved bits": [1002, Uint8Array.of(0xf1, 0x80, 0, 0, 0, 0)],
  "an unknown opcode": [1002, frame("x", { opcode: 5 })],
  "a continuation of nothing": [1002, frame("x", { opcode: 0 })],
  "text that is not UTF-8": [1007, frame(Uint8Array.of(0x34, 0xc3, 0x28))],
  "a frame of 2^63 bytes": [1009, frameHead(2 ** 62)],
};

for (const [what, [code, bytes]] of Object.entries(BROKEN)) {
  Deno.test(`a member that sends ${what} is closed with ${code}, and nobody else`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using other = await RawPeer.join(server.url, laptop);
    await using connection = await openWebSocket(server.port);
    await connect(connection);
    connection.write(bytes);
    await connection.untilClosed();
    assertEquals(closeCodeOf(connection.received), code);
    await other.settled();
  });
}

const LAST_FRAMES: Readonly<Record<string, Uint8Array>> = {
  "its close frame": Uint8Array.of(0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8),
  "a broken frame": Uint8Array.of(0xf1, 0x80, 0, 0, 0, 0),
};

for (const [what, bytes] of Object.entries(LAST_FRAMES)) {
  Deno.test(`what a member sends in one segment with ${what} is handled`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using agent = await RawPeer.join(server.url, ada);
    using member = await RawMember.join(server, laptop);
    const update = `42/smcp,["server:update_config",${JSON.stringify({ computer: "laptop" })}]`;
    await member.sendBytes(concat([frame(update), bytes]));
    await member.endWriting();
    await agent.next("notify:leave_office");
    const events = agent.arrivals.map(([event]) => event);
    assertEquals(events.slice(-2), ["notify:update_config", "notify:leave_office"]);
  });
}

Deno.test("frames in the segment of the handshake are read, also broken ones", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const handshake = new TextEncoder().encode(
    toText(server.port, { target: WEBSOCKET, headers: UPGRADE_HEADERS }),
  );
  await using hasty = new RawConnection(server.port);
  hasty.write(concat([handshake, frame("40/smcp,")]));
  await hasty.until("admission", (text) => text.includes("40/smcp,{"));
  await using broken = new RawConnection(server.port);
  broken.write(concat([handshake, Uint8Array.of(0xf1, 0x80, 0, 0, 0, 0)]));
  await broken.untilClosed();
  assertEquals(closeCodeOf(broken.received), 1002);
});

Deno.test("handshakes that break the rules are refused in plain HTTP", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const wrong: readonly (readonly [name: string, value: string])[] = [
    ["Sec-WebSocket-Key", "short"],
    ["Sec-WebSocket-Version", "7"],
    ["Sec-WebSocket-Protocol", "a b"],
    ["Upgrade", "h2c"],
  ];
  for (const [name, value] of wrong) {
    await using connection = await openRefused(server.port, { ...UPGRADE_HEADERS, [name]: value });
    assert(connection.received.startsWith("HTTP/1.1 400"), connection.received);
  }
});

async function openRefused(port: number, headers: Readonly<Record<string, string>>): Promise<RawConnection> {
  const connection = new RawConnection(port);
  connection.write(toText(port, { target: WEBSOCKET, headers }));
  await connection.untilClosed();
  return connection;
}

/** What this isolate holds; the tests of others, in the same process, are not counted. */
function heldBytes(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

Deno.test("a member that sends pings and reads nothing makes the Server hold one answer", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using member = await RawMember.join(server, laptop);
  await using agent = await RawPeer.join(server.url, ada);
  const before = heldBytes();
  const ping = Uint8Array.of(0x89, 0x80 | 125, 0, 0, 0, 0, ...new Uint8Array(125));
  const pings = concat(Array.from({ length: 1_000 }, () => ping));
  for (let round = 0; round < 400; round++) await member.sendBytes(pings);
  await agent.settled();
  assert(heldBytes() - before < 100 * MIB);
});

Deno.test("a member that announces more than it sends makes the Server hold what it sent", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const before = heldBytes();
  await using members = new AsyncDisposableStack();
  for (let count = 0; count < 32; count++) {
    const connection = members.use(await openWebSocket(server.port));
    await connect(connection);
    connection.write(concat([frameHead(16 * MIB - 1), new Uint8Array(10_000)]));
  }
  await using agent = await RawPeer.join(server.url, ada);
  await agent.settled();
  assert(heldBytes() - before < 64 * MIB);
});

Deno.test("a member that sends a large message in frames of one byte makes the Server copy it a few times", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using connection = await openWebSocket(server.port);
  await connect(connection);
  const allocate = Buffer.allocUnsafeSlow;
  let allocatedBytes = 0;
  Buffer.allocUnsafeSlow = (size) => {
    allocatedBytes += size;
    return allocate(size);
  };
  try {
    connection.write(frame(new Uint8Array(2 * MIB).fill(0x34), { isWhole: false }));
    const small = frame("x", { opcode: 0, isWhole: false });
    connection.write(concat(Array.from({ length: 2_000 }, () => small)));
    connection.write(PING_FRAME);
    await connection.until("the answer to the ping", (text) => text.includes(PONG_FRAME));
  } finally {
    Buffer.allocUnsafeSlow = allocate;
  }
  assert(allocatedBytes < 64 * MIB, `${allocatedBytes} bytes`);
  await agent.settled();
});

Deno.test("a member that ends its side without a close frame leaves at once", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  using member = await RawMember.join(server, laptop);
  await within(agent.next("notify:enter_office"), "the member");
  await member.endWriting();
  assertEquals(await agent.next("notify:leave_office"), { office_id: "lab", computer: "laptop" });
  await member.untilClosed();
});

Deno.test("a member that sends a close frame leaves at once, and is answered with its code", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using connection = await openWebSocket(server.port);
  await connect(connection);
  connection.write(frame(`42/smcp,0["server:join_office",${JSON.stringify(laptop)}]`));
  await connection.until("the answer", (text) => text.includes("43/smcp,0[true"));
  connection.write(Uint8Array.of(0x88, 0x82, 0, 0, 0, 0, 3, 232));
  assertEquals(await agent.next("notify:leave_office"), { office_id: "lab", computer: "laptop" });
  await connection.untilClosed();
  assertEquals(closeCodeOf(connection.received), 1000);
});
