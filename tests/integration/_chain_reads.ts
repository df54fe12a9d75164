/** A notification that comes while what it is about is being read or listed: tests for each kind of MCP server. */
import { ChainOffice } from "./_chain_office.ts";
import { type ChainKindOfServer, ChainServer } from "./_chain_server.ts";

const HOST = "dpe://com.example.chain";
const A = "window://com.example.chain/a";
const B = "window://com.example.chain/b";
const C = "window://com.example.chain/c";
const REPORT = `${HOST}/report`;

/** Declares the tests for servers of one kind. */
export function testChainReads({ kind, what, ignore }: ChainKindOfServer): void {
  // proves: desktop-flow-content, desktop-updated-window
  Deno.test({
    name: `with ${what}, a window that changes while it is read ends as what it became`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, { windows: { [A]: "1" } });
      await using office = await ChainOffice.open({ server });
      await office.sees({ windows: { [A]: "1" } });
      await server.until(`subscribe ${A}`);
      const reads = await server.count(A);
      await server.hold(A);
      await server.become({ windows: { [A]: "2" } });
      await server.until(A, reads + 1);
      await server.become({ windows: { [A]: "3" } });
      await server.answer(A);
      await office.endsWith({ windows: { [A]: "3" }, documents: {} });
    },
  });

  // proves: finder-flow-content, finder-updated-document
  Deno.test({
    name: `with ${what}, a document that changes while it is read ends as what it became`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, { documents: { [REPORT]: "1" } });
      await using office = await ChainOffice.open({ server });
      await office.sees({ documents: { [REPORT]: "1" } });
      await server.until(`subscribe ${REPORT}`);
      const reads = await server.count(REPORT);
      await server.hold(REPORT);
      await server.become({ documents: { [REPORT]: "2" } });
      await server.until(REPORT, reads + 1);
      await server.become({ documents: { [REPORT]: "3" } });
      await server.answer(REPORT);
      await office.endsWith({ windows: {}, documents: { [REPORT]: "3" } });
    },
  });

  Deno.test({
    name: `with ${what}, a window that changes while it is read for the first time ends as what it became`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, { windows: { [A]: "1" }, hold: [A] });
      await using office = await ChainOffice.open({ server });
      await server.until(A);
      await server.until(`subscribe ${A}`);
      await server.become({ windows: { [A]: "2" } });
      await server.answer(A);
      await office.endsWith({ windows: { [A]: "2" }, documents: {} });
    },
  });

  // proves: desktop-flow-list, finder-flow-list, mcp-list-changed
  Deno.test({
    name: `with ${what}, a list that changes while it is listed ends as what it became`,
    ignore,
    async fn() {
      await using server = new ChainServer(kind, { windows: { [A]: "a" }, documents: {} });
      await using office = await ChainOffice.open({ server });
      await office.sees({ windows: { [A]: "a" } });
      const lists = await server.count("resources/list");
      await server.hold("resources/list");
      await server.become({ windows: { [A]: "a", [B]: "b" } });
      await server.until("resources/list", lists + 1);
      await server.become({ windows: { [B]: "b", [C]: "c" }, documents: { [REPORT]: "Report" } });
      await server.answer("resources/list");
      await office.endsWith({ windows: { [B]: "b", [C]: "c" }, documents: { [REPORT]: "Report" } });
    },
  });
}
