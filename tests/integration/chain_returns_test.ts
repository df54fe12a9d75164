/** A notification that comes while the Computer, the office or the MCP server is away: nothing is lost. */
import { assertEquals } from "@std/assert";
import { stateOf } from "../fixtures/log_book.ts";
import { A, next, openOffice, REPORT, start, testChainReturns } from "./_chain_returns.ts";
import { ChainServer, DENO_KINDS } from "./_chain_server.ts";

for (const kind of DENO_KINDS) testChainReturns(kind);

Deno.test("a read that its death cut short leaves nothing old behind", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await openOffice(server);
  const reads = { [A]: await server.count(A), [REPORT]: await server.count(REPORT) };
  await server.hold(A, REPORT);
  await server.become({ windows: { [A]: "held" }, documents: { [REPORT]: "Held" } });
  for (const [uri, count] of Object.entries(reads)) await server.until(uri, count + 1);
  await server.die({ ...next, hold: [] });
  await office.endsWith(next);
});

Deno.test("what changes while the Computer is away and it is dead is seen", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await openOffice(server);
  await office.drop();
  const running = office.log.next(stateOf("server", "running"));
  await server.die(next);
  office.restore();
  await running;
  await office.endsWith(next);
});

Deno.test("what changes while the Server is away is seen once it is back on its port", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await openOffice(server);
  await office.closeServer();
  await server.become(next);
  await office.reopenServer();
  await office.endsWith(next);
  await server.become({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
  await office.endsWith({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
});

Deno.test("while it is dead its last known windows and documents are served, and the Agent is told nothing", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await openOffice(server);
  await office.endsWith(start);
  const retrying = office.log.next(stateOf("server", "retrying"));
  await server.die({ ...next, hold: ["resources/list"] });
  await retrying;
  const { desktop, finder } = office.notifiedAtMs;
  const told = [desktop.length, finder.length];
  await office.endsWith(start);
  await server.until("resources/list", 2);
  assertEquals([desktop.length, finder.length], told);
  await server.answer("resources/list");
  await office.endsWith(next);
});
