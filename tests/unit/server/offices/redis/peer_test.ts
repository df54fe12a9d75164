import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SmcpError } from "../../../../../src/protocol/errors.ts";
import { Peer } from "../../../../../src/server/offices/redis/peer.ts";

const MIB = 1024 * 1024;
const request = { event: "client:tool_call", computer: "laptop", officeId: "lab" };
const lab = { officeId: "lab" };
const other = { officeId: "other" };

function openPeer() {
  const sent: string[] = [];
  const peer = new Peer((message) => {
    sent.push(message.slice(0, 1));
    return Promise.resolve(1);
  });
  return { peer, sent };
}

Deno.test("What does not fit waits, in order, until the process confirms what it has received", async () => {
  const { peer, sent } = openPeer();
  const sending = ["a", "b", "c", "d"].map((name) => peer.send(name.repeat(3 * MIB), lab));
  const last = peer.send("e", lab);
  assertEquals(sent, ["a"]);
  for (let i = 0; i < 4; i++) peer.onConfirmed(3 * MIB);
  assertEquals(sent, ["a", "b", "c", "d", "e"]);
  assertEquals(await Promise.all([...sending, last]), [1, 1, 1, 1, 1]);
});

Deno.test("A message larger than the window goes alone", () => {
  const { peer, sent } = openPeer();
  for (const name of ["a", "b"]) peer.send(name.repeat(16 * MIB), lab);
  assertEquals(sent, ["a"]);
  peer.onConfirmed(16 * MIB);
  assertEquals(sent, ["a", "b"]);
});

Deno.test("A message that is taken back while it waits is not sent, and those behind it are", () => {
  const { peer, sent } = openPeer();
  const [first, second] = [{}, {}];
  peer.send("a".repeat(4 * MIB), { ...lab, key: first });
  peer.send("b".repeat(4 * MIB), { ...lab, key: second });
  peer.send("c", lab);
  assertEquals([first, second].map((key) => peer.cancel("lab", key)), [false, true]);
  assertEquals(sent, ["a"]);
  peer.onConfirmed(2 * MIB);
  assertEquals(sent, ["a", "c"]);
});

Deno.test("A message that was held up by one that is taken back goes at once", () => {
  const { peer, sent } = openPeer();
  const second = {};
  peer.send("a".repeat(2 * MIB), lab);
  peer.send("b".repeat(4 * MIB), { ...lab, key: second });
  peer.send("c", lab);
  peer.cancel("lab", second);
  assertEquals(sent, ["a", "c"]);
});

Deno.test("Large messages of one office hold up another one's by a turn, and its small ones not at all", () => {
  const { peer, sent } = openPeer();
  for (const name of ["a", "b", "c"]) peer.send(name.repeat(16 * MIB), lab);
  peer.send("s", other);
  assertEquals(sent, ["a", "s"]);
  peer.send("x".repeat(16 * MIB), other);
  peer.send("y", other);
  peer.onConfirmed(16 * MIB);
  assertEquals(sent, ["a", "s", "b"]);
  peer.onConfirmed(16 * MIB);
  assertEquals(sent, ["a", "s", "b", "x"]);
  for (let i = 0; i < 2; i++) peer.onConfirmed(16 * MIB);
  assertEquals(sent, ["a", "s", "b", "x", "c", "y"]);
});

Deno.test("Small messages beside large ones are bounded until one of these goes, so that they hold nothing up for ever", () => {
  const { peer, sent } = openPeer();
  const small = "s".repeat(64 * 1024);
  for (const name of ["a", "b"]) peer.send(name.repeat(16 * MIB), lab);
  for (let i = 0; i < 80; i++) peer.send(small, { officeId: `o${i}` });
  assertEquals(sent.length, 1 + 64);
  peer.onConfirmed(20 * MIB);
  assertEquals(sent.slice(65), ["b"]);
  peer.onConfirmed(16 * MIB);
  assertEquals(sent.length, 1 + 64 + 1 + 16);
});

Deno.test("Messages are confirmed once they are as much as a receipt is worth", () => {
  const { peer } = openPeer();
  const text = "é".repeat(50_000);
  assertEquals([1, 2, 3].map(() => peer.onReceived(text)), [undefined, undefined, 300_000]);
  assertEquals(peer.onReceived(text), undefined);
});

Deno.test("Requests are refused with 413 when too much waits, and what waits for a lost process fails", async () => {
  const { peer, sent } = openPeer();
  const text = "x".repeat(16 * MIB);
  const [first, ...waiting] = Array.from({ length: 5 }, () => peer.send(text, lab));
  const error = assertThrows(() => peer.requireRoom(request, MIB), SmcpError, "try again");
  assertEquals(error.code, 413);
  assertEquals(error.details, { size: 64 * MIB, limit: 64 * MIB, computer_name: "laptop" });
  // The small messages of other offices pass.
  peer.requireRoom({ ...request, ...other }, 64 * 1024);
  assertThrows(() => peer.requireRoom({ ...request, ...other }, 64 * 1024 + 1), SmcpError);
  assertThrows(() => peer.requireRoom(request, 1), SmcpError);
  peer.clear();
  peer.requireRoom(request, MIB);
  assertEquals(await first, 1);
  await Promise.all(waiting.map((one) => assertRejects(() => one, TypeError, "lost")));
  assertEquals(sent.length, 1);
});

Deno.test("What nobody has received is not awaited: a message that Redis refused, or that had no receiver", async () => {
  const sent: string[] = [];
  const replies = [Promise.reject(new Error("CLUSTERDOWN")), Promise.resolve(0)];
  const peer = new Peer((message) => {
    sent.push(message.slice(0, 1));
    return replies.shift() ?? Promise.resolve(1);
  });
  const refused = peer.send("a".repeat(4 * MIB), lab);
  const waiting = ["b", "c"].map((name) => peer.send(name.repeat(4 * MIB), lab));
  assertEquals(sent, ["a"]);
  await assertRejects(() => refused, Error, "CLUSTERDOWN");
  assertEquals(await Promise.all(waiting), [0, 1]);
  assertEquals(sent, ["a", "b", "c"]);
});
