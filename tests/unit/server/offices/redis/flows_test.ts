import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SmcpError } from "../../../../../src/protocol/errors.ts";
import { Flows } from "../../../../../src/server/offices/redis/flows.ts";

const MIB = 1024 * 1024;
const request = { event: "client:tool_call", computer: "laptop", officeId: "lab" };
const lab = { officeId: "lab" };
const other = { officeId: "other" };

function openFlows() {
  const sent: string[] = [];
  const flows = new Flows((_fence, message) => {
    sent.push(message.slice(0, 1));
    return Promise.resolve(1);
  });
  return { flows, sent };
}

Deno.test("What does not fit waits, in order, until the process confirms what it has received", async () => {
  const { flows, sent } = openFlows();
  const sending = ["a", "b", "c", "d"].map((name) => flows.send("f", name.repeat(3 * MIB), lab));
  const last = flows.send("f", "e", lab);
  const elsewhere = flows.send("g", "x", lab);
  assertEquals(sent, ["a", "x"]);
  for (let i = 0; i < 4; i++) flows.onConfirmed("f", 3 * MIB);
  assertEquals(sent, ["a", "x", "b", "c", "d", "e"]);
  assertEquals(await Promise.all([...sending, last, elsewhere]), [1, 1, 1, 1, 1, 1]);
});

Deno.test("A message larger than the window goes alone", () => {
  const { flows, sent } = openFlows();
  for (const name of ["a", "b"]) flows.send("f", name.repeat(16 * MIB), lab);
  assertEquals(sent, ["a"]);
  flows.onConfirmed("f", 16 * MIB);
  assertEquals(sent, ["a", "b"]);
});

Deno.test("A message that is taken back while it waits is not sent, and those behind it are", () => {
  const { flows, sent } = openFlows();
  const [first, second] = [{}, {}];
  flows.send("f", "a".repeat(4 * MIB), { ...lab, key: first });
  flows.send("f", "b".repeat(4 * MIB), { ...lab, key: second });
  flows.send("f", "c", lab);
  assertEquals([first, second].map((key) => flows.cancel("f", { ...lab, key })), [false, true]);
  assertEquals(sent, ["a"]);
  flows.onConfirmed("f", 2 * MIB);
  assertEquals(sent, ["a", "c"]);
});

Deno.test("A message that was held up by one that is taken back goes at once", () => {
  const { flows, sent } = openFlows();
  const second = {};
  flows.send("f", "a".repeat(2 * MIB), lab);
  flows.send("f", "b".repeat(4 * MIB), { ...lab, key: second });
  flows.send("f", "c", lab);
  flows.cancel("f", { ...lab, key: second });
  assertEquals(sent, ["a", "c"]);
});

Deno.test("Large messages of one office hold up another one's by a turn, and its small ones not at all", () => {
  const { flows, sent } = openFlows();
  for (const name of ["a", "b", "c"]) flows.send("f", name.repeat(16 * MIB), lab);
  flows.send("f", "s", other);
  assertEquals(sent, ["a", "s"]);
  flows.send("f", "x".repeat(16 * MIB), other);
  flows.send("f", "y", other);
  flows.onConfirmed("f", 16 * MIB);
  assertEquals(sent, ["a", "s", "b"]);
  flows.onConfirmed("f", 16 * MIB);
  assertEquals(sent, ["a", "s", "b", "x"]);
  for (let i = 0; i < 2; i++) flows.onConfirmed("f", 16 * MIB);
  assertEquals(sent, ["a", "s", "b", "x", "c", "y"]);
});

Deno.test("Small messages beside large ones are bounded until one of these goes, so that they hold nothing up for ever", () => {
  const { flows, sent } = openFlows();
  const small = "s".repeat(64 * 1024);
  for (const name of ["a", "b"]) flows.send("f", name.repeat(16 * MIB), lab);
  for (let i = 0; i < 80; i++) flows.send("f", small, { officeId: `o${i}` });
  assertEquals(sent.length, 1 + 64);
  flows.onConfirmed("f", 20 * MIB);
  assertEquals(sent.slice(65), ["b"]);
  flows.onConfirmed("f", 16 * MIB);
  assertEquals(sent.length, 1 + 64 + 1 + 16);
});

Deno.test("Messages are confirmed once they are as much as a receipt is worth", () => {
  const { flows } = openFlows();
  const text = "é".repeat(50_000);
  assertEquals([1, 2, 3].map(() => flows.onReceived("f", text)), [undefined, undefined, 300_000]);
  assertEquals(flows.onReceived("f", text), undefined);
});

Deno.test("Requests are refused with 413 when too much waits, and what waits for a lost process fails", async () => {
  const { flows, sent } = openFlows();
  const text = "x".repeat(16 * MIB);
  const [first, ...waiting] = Array.from({ length: 5 }, () => flows.send("f", text, lab));
  const error = assertThrows(() => flows.requireRoom("f", request, MIB), SmcpError, "try again");
  assertEquals(error.code, 413);
  assertEquals(error.details, { size: 64 * MIB, limit: 64 * MIB, computer_name: "laptop" });
  flows.requireRoom("another process", request, MIB);
  // The small messages of other offices pass.
  flows.requireRoom("f", { ...request, ...other }, 64 * 1024);
  assertThrows(() => flows.requireRoom("f", { ...request, ...other }, 64 * 1024 + 1), SmcpError);
  assertThrows(() => flows.requireRoom("f", request, 1), SmcpError);
  flows.end("f");
  flows.requireRoom("f", request, MIB);
  assertEquals(await first, 1);
  await Promise.all(waiting.map((one) => assertRejects(() => one, TypeError, "lost")));
  assertEquals([sent.length, flows.fences()], [1, []]);
});

Deno.test("What nobody has received is not awaited: a message that Redis refused, or that had no receiver", async () => {
  const sent: string[] = [];
  const replies = [Promise.reject(new Error("CLUSTERDOWN")), Promise.resolve(0)];
  const flows = new Flows((_fence, message) => {
    sent.push(message.slice(0, 1));
    return replies.shift() ?? Promise.resolve(1);
  });
  const refused = flows.send("f", "a".repeat(4 * MIB), lab);
  const waiting = ["b", "c"].map((name) => flows.send("f", name.repeat(4 * MIB), lab));
  assertEquals(sent, ["a"]);
  await assertRejects(() => refused, Error, "CLUSTERDOWN");
  assertEquals(await Promise.all(waiting), [0, 1]);
  assertEquals(sent, ["a", "b", "c"]);
});
