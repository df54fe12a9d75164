/** A notification that comes while what it is about is being read, listed or subscribed to. */
import { assertEquals } from "@std/assert";
import { ChainOffice } from "./_chain_office.ts";
import { testChainReads } from "./_chain_reads.ts";
import { ChainServer, DENO_KINDS } from "./_chain_server.ts";

const HOST = "dpe://com.example.chain";
const A = "window://com.example.chain/a";
const B = "window://com.example.chain/b";
const C = "window://com.example.chain/c";
const REPORT = `${HOST}/report`;

for (const kind of DENO_KINDS) testChainReads(kind);

Deno.test("a document that changes while the catalogue is read ends as what it became", async () => {
  const titles = (each: string) =>
    Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${HOST}/${i}`, `${i} ${each}`]));
  await using server = new ChainServer("sdk", { documents: titles("first") });
  await using office = await ChainOffice.open({ server });
  await office.sees({ documents: titles("first") });
  for (let i = 0; i < 9; i++) await server.until(`subscribe ${HOST}/${i}`);
  const catalogues = await server.count(HOST);
  await server.hold(HOST);
  await server.become({ documents: titles("second") });
  await server.until(HOST, catalogues + 1);
  const last = { ...titles("second"), [`${HOST}/4`]: "third" };
  await server.become({ documents: last });
  await server.answer(HOST);
  await office.endsWith({ windows: {}, documents: last });
});

Deno.test("a catalogue that changes while it is read is read once more, and no document by itself", async () => {
  const titles = (each: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${HOST}/${i}`, `${i} ${each}`]));
  // The documents' own subscriptions are held, so that all documents change together, with the host's URI. Otherwise a
  // document is rightly read alone: when its subscription is confirmed only after the catalogue was read, or when a
  // request arrives between the updates of two documents.
  const hold = Object.keys(titles("first")).map((uri) => `subscribe ${uri}`);
  await using server = new ChainServer("sdk", { documents: titles("first"), hold });
  await using office = await ChainOffice.open({ server });
  await office.sees({ documents: titles("first") });
  await server.until(`subscribe ${HOST}`);
  const catalogues = await server.count(HOST);
  await server.hold(HOST);
  await server.become({ documents: titles("second") });
  await server.command({ command: "tell", uris: [HOST] });
  await server.until(HOST, catalogues + 1);
  await server.become({ documents: titles("third") });
  await server.command({ command: "tell", uris: [HOST] });
  // Its answer comes after what was told; a request that comes then knows that what is on its way is old.
  await office.laptop.callTool("echo");
  const finder = office.laptop.getFinder();
  await office.laptop.getTools();
  await server.answer(HOST);
  assertEquals((await finder).documents.map(({ title }) => title), Object.values(titles("third")));
  await office.endsWith({ windows: {}, documents: titles("third") });
  const documents = server.came.filter((request) => request.startsWith(`${HOST}/`));
  assertEquals(documents, []);
});

Deno.test("a window that leaves while others are subscribed to, and comes back, is told of again", async () => {
  await using server = new ChainServer("sdk", { windows: { [A]: "a" } });
  await using office = await ChainOffice.open({ server });
  await office.sees({ windows: { [A]: "a" } });
  await server.until(`subscribe ${A}`);
  await server.hold(`subscribe ${B}`);
  await server.become({ windows: { [B]: "b" } });
  await server.until(`subscribe ${B}`);
  await server.become({ windows: { [A]: "a", [B]: "b" } });
  await server.until(`subscribe ${A}`, 2);
  await server.answer(`subscribe ${B}`);
  await server.become({ windows: { [A]: "a", [B]: "b", [C]: "c" } });
  // Whatever was let go is let go before the next is subscribed to.
  await server.until(`subscribe ${C}`);
  await server.become({ windows: { [A]: "aa", [B]: "b", [C]: "c" } });
  await office.endsWith({ windows: { [A]: "aa", [B]: "b", [C]: "c" }, documents: {} });
});

Deno.test("a document that leaves while it is subscribed to is read no more", async () => {
  await using server = new ChainServer("sdk", {
    documents: { [REPORT]: "Report", [`${HOST}/plan`]: "Plan" },
    hold: [`subscribe ${REPORT}`],
  });
  await using office = await ChainOffice.open({ server });
  await office.sees({ documents: { [REPORT]: "Report", [`${HOST}/plan`]: "Plan" } });
  await server.until(`subscribe ${REPORT}`);
  await server.become({ documents: { [`${HOST}/plan`]: "Plan" } });
  await office.sees({ documents: { [`${HOST}/plan`]: "Plan" } });
  const reads = await server.count(REPORT);
  await server.answer(`subscribe ${REPORT}`);
  await server.until(`unsubscribe ${REPORT}`);
  await office.endsWith({ windows: {}, documents: { [`${HOST}/plan`]: "Plan" } });
  assertEquals(await server.count(REPORT), reads);
});

Deno.test("a window that changes before its subscription holds ends as what it became", async () => {
  await using server = new ChainServer("sdk", { windows: { [A]: "1" }, hold: [`subscribe ${A}`] });
  await using office = await ChainOffice.open({ server });
  await server.until(`subscribe ${A}`);
  await office.sees({ windows: { [A]: "1" } });
  // Nobody is told, since nobody has subscribed.
  await server.become({ windows: { [A]: "2" } });
  await server.answer(`subscribe ${A}`);
  await office.endsWith({ windows: { [A]: "2" }, documents: {} });
});

Deno.test("a document that changes before its subscription holds ends as what it became", async () => {
  const start = { documents: { [REPORT]: "1" }, hold: [`subscribe ${REPORT}`] };
  await using server = new ChainServer("sdk", start);
  await using office = await ChainOffice.open({ server });
  await server.until(`subscribe ${REPORT}`);
  await office.sees({ documents: { [REPORT]: "1" } });
  await server.become({ documents: { [REPORT]: "2" } });
  await server.answer(`subscribe ${REPORT}`);
  await office.endsWith({ windows: {}, documents: { [REPORT]: "2" } });
});

Deno.test("what was read before its subscription and is still the same is told of no further time", async () => {
  const start = { windows: { [A]: "1" }, documents: { [REPORT]: "1" } };
  const subscriptions = [`subscribe ${A}`, `subscribe ${REPORT}`];
  await using server = new ChainServer("sdk", { ...start, hold: subscriptions });
  await using office = await ChainOffice.open({ server });
  await office.endsWith(start);
  const { desktop, finder } = office.notifiedAtMs;
  const told = [desktop.length, finder.length];
  const reads = [await server.count(A), await server.count(REPORT)];
  await server.answer(...subscriptions);
  // Both are read again, and each kind of update comes at most 50 ms after what it tells of.
  await server.until(A, (reads[0] ?? 0) + 1);
  await server.until(REPORT, (reads[1] ?? 0) + 1);
  await office.laptop.callTool("echo");
  await server.become({ windows: { [A]: "2" }, documents: { [REPORT]: "2" } });
  await office.endsWith({ windows: { [A]: "2" }, documents: { [REPORT]: "2" } });
  assertEquals([desktop.length, finder.length], told.map((count) => count + 1));
});
