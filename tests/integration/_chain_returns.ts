/** A notification that comes while the Computer or the MCP server is away: tests for each kind of MCP server. */
import { ChainOffice } from "./_chain_office.ts";
import { type ChainKindOfServer, ChainServer } from "./_chain_server.ts";
import { eventually } from "../fixtures/within.ts";

export const A = "window://com.example.chain/a";
export const B = "window://com.example.chain/b";
export const REPORT = "dpe://com.example.chain/report";
const PLAN = "dpe://com.example.chain/plan";

/** What a server shows first. */
export const start = { windows: { [A]: "old" }, documents: { [REPORT]: "Old" } };
/** What it shows next. */
export const next = { windows: { [A]: "new", [B]: "b" }, documents: { [REPORT]: "New", [PLAN]: "Plan" } };

/** An office in which the Agent sees where the server starts, and the server is subscribed to. */
export async function openOffice(server: ChainServer): Promise<ChainOffice> {
  await using stack = new AsyncDisposableStack();
  const office = stack.use(await ChainOffice.open({ server }));
  await office.sees(start);
  await server.until(`subscribe ${A}`);
  await server.until(`subscribe ${REPORT}`);
  stack.move(); // From here on the office belongs to the test.
  return office;
}

/** Declares the tests for servers of one kind. */
export function testChainReturns({ kind, what, ignore }: ChainKindOfServer): void {
  Deno.test({
    name: `with ${what}, what changes while the Computer's connection is lost is seen once it is back`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, start);
      await using office = await openOffice(server);
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
      await using office = await openOffice(server);
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
      await using office = await openOffice(server);
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
      await using office = await openOffice(server);
      const lists = await server.count("resources/list");
      await server.die({ hold: ["resources/list"], windows: { [A]: "a" }, documents: {} });
      await server.until("resources/list", lists + 1);
      await server.become(next);
      await server.answer("resources/list");
      await office.endsWith(next);
    },
  });
}
