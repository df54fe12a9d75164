/** The two full chains, from an MCP server's notification to the Agent's refreshed view, whoever wrote the server. */
import { assert, assertEquals } from "@std/assert";
import { EVERYTHING } from "../../examples/everything_servers.ts";
import { ChainOffice } from "./_chain_office.ts";
import { CHAIN_KINDS, ChainServer } from "./_chain_server.ts";

const A = "window://com.example.chain/a";
const B = "window://com.example.chain/b";
const REPORT = "dpe://com.example.chain/report";
const PLAN = "dpe://com.example.chain/plan";

const start = { windows: { [A]: "old" }, documents: { [REPORT]: "Old" } };

for (const { kind, what, ignore } of CHAIN_KINDS) {
  // proves: desktop-flow-content, desktop-flow-list, desktop-agent-refresh, desktop-updated-window
  // proves: finder-flow-content, finder-flow-list, finder-agent-refresh, finder-updated-document
  // proves: mcp-subscribe, mcp-updated, mcp-list-changed
  Deno.test({
    name: `with ${what}, what changes, comes and goes is in the Agent's refreshed views`,
    ignore,
    async fn(t) {
      await using server = new ChainServer(kind, start);
      await using office = await ChainOffice.open({ server });
      await office.sees(start);
      await server.until(`subscribe ${A}`);
      await server.until(`subscribe ${REPORT}`);

      await t.step("a window's new content", async () => {
        await server.become({ windows: { [A]: "new" } });
        await office.endsWith({ windows: { [A]: "new" }, documents: { [REPORT]: "Old" } });
      });

      await t.step("a window that comes, and its content when it changes later", async () => {
        await server.become({ windows: { [A]: "new", [B]: "b" } });
        await office.sees({ windows: { [A]: "new", [B]: "b" } });
        await server.until(`subscribe ${B}`);
        await server.become({ windows: { [A]: "new", [B]: "bb" } });
        await office.sees({ windows: { [A]: "new", [B]: "bb" } });
      });

      await t.step("a window that goes", async () => {
        await server.become({ windows: { [B]: "bb" } });
        await office.endsWith({ windows: { [B]: "bb" }, documents: { [REPORT]: "Old" } });
      });

      await t.step("a document's new metadata", async () => {
        await server.become({ documents: { [REPORT]: "New" } });
        await office.endsWith({ windows: { [B]: "bb" }, documents: { [REPORT]: "New" } });
      });

      await t.step("a document that comes, and its metadata when it changes later", async () => {
        await server.become({ documents: { [REPORT]: "New", [PLAN]: "Plan" } });
        await office.sees({ documents: { [REPORT]: "New", [PLAN]: "Plan" } });
        await server.until(`subscribe ${PLAN}`);
        await server.become({ documents: { [REPORT]: "New", [PLAN]: "Plan B" } });
        await office.sees({ documents: { [REPORT]: "New", [PLAN]: "Plan B" } });
      });

      await t.step("a document that goes", async () => {
        await server.become({ documents: { [PLAN]: "Plan B" } });
        await office.endsWith({ windows: { [B]: "bb" }, documents: { [PLAN]: "Plan B" } });
      });
    },
  });
}

// proves: mcp-read, finder-updated-other, desktop-updated-other
Deno.test("the public server's resources are read by its name and take no part in Desktop and Finder, nor disturb them", async () => {
  const server_parameters = {
    command: Deno.execPath(),
    args: ["run", "-A", "--no-lock", "--quiet", EVERYTHING],
  };
  const everything = { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters };
  await using server = new ChainServer("kit", start);
  await using office = await ChainOffice.open({ everything, server });
  await office.computer.ready();
  await office.endsWith(start);
  const { resources } = await office.laptop.getResources("everything");
  assert(resources.length > 0);
  for (const { uri } of resources) {
    const { contents } = await office.laptop.readResource(uri, { mcpServer: "everything" });
    assertEquals(contents[0]?.uri, uri);
    assert(contents[0]?.text !== undefined || contents[0]?.blob !== undefined, uri);
  }
  assertEquals((await office.laptop.callTool("echo", { message: "hello" })).isError, false);
  await server.until(`subscribe ${A}`);
  await server.until(`subscribe ${REPORT}`);
  await server.become({ windows: { [A]: "new" }, documents: { [REPORT]: "New" } });
  await office.endsWith({ windows: { [A]: "new" }, documents: { [REPORT]: "New" } });
});
