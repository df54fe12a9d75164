/** A notification that comes while the Computer, the office or the MCP server is away: nothing is lost. */
import { assertEquals } from "@std/assert";
import { stateOf } from "../fixtures/log_book.ts";
import { ChainOffice } from "./_chain_office.ts";
import { CHAIN_KINDS, ChainServer } from "./_chain_server.ts";
import { eventually } from "../fixtures/within.ts";

const A = "window://com.example.chain/a";
const B = "window://com.example.chain/b";
const REPORT = "dpe://com.example.chain/report";
const PLAN = "dpe://com.example.chain/plan";

const start = { windows: { [A]: "old" }, documents: { [REPORT]: "Old" } };
const next = { windows: { [A]: "new", [B]: "b" }, documents: { [REPORT]: "New", [PLAN]: "Plan" } };

/** An office in which the Agent sees where the server starts, and the server is subscribed to. */
async function open(server: ChainServer): Promise<ChainOffice> {
  await using stack = new AsyncDisposableStack();
  const office = stack.use(await ChainOffice.open({ server }));
  await office.sees(start);
  await server.until(`subscribe ${A}`);
  await server.until(`subscribe ${REPORT}`);
  stack.move(); // From here on the office belongs to the test.
  return office;
}

for (const { kind, what, ignore } of CHAIN_KINDS) {
  Deno.test({
    name: `with ${what}, what changes while the Computer's connection is lost is seen once it is back`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, start);
      await using office = await open(server);
      await office.drop();
      await server.become(next);
      office.restore();
      await office.endsWith(next);
      await server.become({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
      await office.endsWith({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
    },
  });

  Deno.test({
    name: `with ${what}, what changes while the Computer is coming back is seen`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, start);
      await using office = await open(server);
      await office.drop();
      let isBack = false;
      using _ = office.agent.on("enterOffice", () => void (isBack = true));
      office.restore();
      let count = 0;
      const change = async () => {
        await server.become({ windows: { [A]: `${++count}` }, documents: { [REPORT]: `${count}` } });
        return isBack;
      };
      await eventually(change, (isBack) => isBack, "the Computer to be back");
      await office.endsWith({ windows: { [A]: `${count}` }, documents: { [REPORT]: `${count}` } });
    },
  });

  // proves: mcp-list-changed
  Deno.test({
    name: `with ${what}, what is different when it comes back from the dead is seen`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, start);
      await using office = await open(server);
      await server.die(next);
      await office.endsWith(next);
      await server.until(`subscribe ${A}`, 2);
      await server.until(`subscribe ${REPORT}`, 2);
      await server.become({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
      await office.endsWith({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
    },
  });

  Deno.test({
    name: `with ${what}, what changes while it is listed for the first time in its new life is seen`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, start);
      await using office = await open(server);
      const lists = await server.count("resources/list");
      await server.die({ hold: ["resources/list"], windows: { [A]: "a" }, documents: {} });
      await server.until("resources/list", lists + 1);
      await server.become(next);
      await server.answer("resources/list");
      await office.endsWith(next);
    },
  });
}

Deno.test("a read that its death cut short leaves nothing old behind", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await open(server);
  const reads = { [A]: await server.count(A), [REPORT]: await server.count(REPORT) };
  await server.hold(A, REPORT);
  await server.become({ windows: { [A]: "held" }, documents: { [REPORT]: "Held" } });
  for (const [uri, count] of Object.entries(reads)) await server.until(uri, count + 1);
  await server.die({ ...next, hold: [] });
  await office.endsWith(next);
});

Deno.test("what changes while the Computer is away and it is dead is seen", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await open(server);
  await office.drop();
  const running = office.log.next(stateOf("server", "running"));
  await server.die(next);
  office.restore();
  await running;
  await office.endsWith(next);
});

Deno.test("what changes while the Server is away is seen once it is back on its port", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await open(server);
  await office.closeServer();
  await server.become(next);
  await office.reopenServer();
  await office.endsWith(next);
  await server.become({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
  await office.endsWith({ windows: { [A]: "newer" }, documents: { [REPORT]: "Newer" } });
});

Deno.test("while it is dead its last known windows and documents are served, and the Agent is told nothing", async () => {
  await using server = new ChainServer("sdk", start);
  await using office = await open(server);
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
