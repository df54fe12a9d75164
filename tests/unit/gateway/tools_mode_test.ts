import { assertEquals } from "@std/assert";
import type { McpTool } from "../../../src/local_tools/mcp.ts";
import { ModeSwitch, tokensOf } from "../../../src/gateway/scoped_tools.ts";

const tools = (count: number, description = ""): McpTool[] =>
  Array.from(
    { length: count },
    (_, index) => ({ name: `t${index}`, description, inputSchema: { type: "object" } }),
  );

Deno.test("auto searches from 40 tools on, and lists all again below 32", () => {
  const mode = new ModeSwitch("auto");
  const decisions = [39, 40, 32, 31, 39].map((count) => mode.isSearch(tools(count)));
  assertEquals(decisions, [false, true, true, false, false]);
});

Deno.test("auto searches when few tools have long definitions", () => {
  const long = tools(2, "x".repeat(20_000));
  assertEquals(tokensOf(long) >= 10_000, true);
  assertEquals(new ModeSwitch("auto").isSearch(long), true);
});

Deno.test("all and search decide by nothing", () => {
  assertEquals([new ModeSwitch("all").isSearch(tools(1_000)), new ModeSwitch("search").isSearch([])], [
    false,
    true,
  ]);
});
