import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  nameTools as nameToolsBy,
  otherNamesOf,
  type ServerTools,
} from "../../../../src/computer/tools/names.ts";
import { serverTools } from "./_server_tools.ts";

/** The names of tools below protocol 0.3. */
const nameTools = (servers: readonly ServerTools[]) => nameToolsBy(servers, { hasBundleIds: false });

/** What each tool is called, its server and its own name. */
function named(...servers: ServerTools[]): [name: string, server: string, tool: string][] {
  return nameTools(servers).named.map(({ name, server, tool }) => [name, server.name, tool.name]);
}

// proves: data-alias
Deno.test("an alias replaces the name of its tool", () => {
  const settings = { tool_meta: { old: { alias: "new" } } };
  assertEquals(named(serverTools("s", ["old"], settings)), [["new", "s", "old"]]);
});

Deno.test("an alias that is another name or alias of the same server is ignored with a warning", () => {
  const settings = {
    tool_meta: { a: { alias: "b" }, c: { alias: "d" }, e: { alias: "d" }, f: { alias: "f" } },
  };
  const server = serverTools("s", ["a", "b", "c", "e", "f"], settings);
  assertEquals(named(server).map(([name]) => name), ["a", "b", "d", "e", "f"]);
  const { warnings } = nameTools([server]);
  assertEquals(warnings.length, 1);
  assert(warnings[0]?.endsWith('"b" of "a", "d" of "e"'));
});

// proves: data-config-forbidden
Deno.test("a forbidden tool has no name, and other servers may use its name", () => {
  const settings = { forbidden_tools: ["rm"], tool_meta: { rm: { alias: "delete" } } };
  const servers = [serverTools("s", ["rm", "ls"], settings), serverTools("t", ["rm"])];
  assertEquals(named(...servers), [["ls", "s", "ls"], ["rm", "t", "rm"]]);
  assertEquals([...nameTools(servers).forbidden], ["delete"]);
});

// proves: data-alias-conflict
Deno.test("of two servers with one tool name the later tool gets its server's name in front, with a warning", () => {
  const servers = [serverTools("a", ["x"]), serverTools("b", ["x", "y"])];
  assertEquals(named(...servers), [["x", "a", "x"], ["b__x", "b", "x"], ["y", "b", "y"]]);
  const { warnings } = nameTools(servers);
  assertEquals(warnings.length, 1);
  assert(warnings[0]?.includes('"b__x"'));
});

Deno.test("a server with the same tools as another one gets one warning, whatever the number of tools", () => {
  const tools = ["a", "b", "c", "d", "e", "f", "g"];
  const { warnings } = nameTools([serverTools("s", tools), serverTools("t", tools)]);
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", '"a" as "t__a", "b" as "t__b"');
  assertStringIncludes(warnings[0] ?? "", "and 2 more");
});

Deno.test("otherNamesOf() finds a tool by its own name, and by that name with its server's name in front", () => {
  const aliases = { tool_meta: { old: { alias: "new" } } };
  const { named } = nameTools([serverTools("a", ["x", "old"], aliases), serverTools("b", ["x"])]);
  const found = ["a__x", "old", "a__old", "a__new", "b__new", "x__a"].map((name) =>
    otherNamesOf(name, named)
  );
  assertEquals(found, [["x"], ["new"], ["new"], ["new"], [], []]);
  const stopped = nameTools([serverTools("a", ["x"], {}, false), serverTools("b", ["x"])]);
  assertEquals(otherNamesOf("x", stopped.named), ["b__x"]);
});

Deno.test("a tool is left out with a warning when its name is taken in both forms", () => {
  const servers = [serverTools("a", ["x", "b__x"]), serverTools("b", ["x"])];
  assertEquals(named(...servers), [["x", "a", "x"], ["b__x", "a", "b__x"]]);
  assertEquals(nameTools(servers).warnings.length, 1);
});

Deno.test("a name that one server lists twice is used once, with a warning", () => {
  const server = serverTools("a", ["x", "x"]);
  assertEquals([named(server), nameTools([server]).warnings.length], [[["x", "a", "x"]], 1]);
});

Deno.test("the tools of a server that is failed or stopped are not listed and keep their names", () => {
  assertEquals(named(serverTools("a", ["x"], {}, false), serverTools("b", ["x"])), [["b__x", "b", "x"]]);
});
