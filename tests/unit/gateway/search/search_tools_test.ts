import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Json, McpToolResult } from "../../../../src/local_tools/mcp.ts";
import type { OfficeTool } from "../../../../src/agent/toolkit/toolset.ts";
import { LongResults } from "../../../../src/gateway/search/long_results.ts";
import { makeSearchTools } from "../../../../src/gateway/search/search_tools.ts";
import { ToolIndex } from "../../../../src/gateway/search/tool_index.ts";
import { officeTool } from "./_tools.ts";

const path = { properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false };
const onBoth = ["desk", "laptop"].map((computer) =>
  officeTool("read_file", "Reads a file", {
    computer,
    clientName: `${computer}__read_file`,
    schema: path,
    annotations: { readOnlyHint: true },
  })
);
const remove = officeTool("delete_file", "Deletes a file", { schema: path });

/** Calls the tools of the search; a call of a tool of a Computer answers its name and arguments. */
async function connect(
  tools: readonly OfficeTool[],
  { answer, problem }: { readonly answer?: McpToolResult; readonly problem?: string } = {},
): Promise<(name: string, args: Json) => Promise<McpToolResult>> {
  const index = new ToolIndex();
  const computers = Map.groupBy(tools, ({ computer }) => computer);
  await index.update(computers);
  const made = makeSearchTools({
    index: () => Promise.resolve(index),
    isReached: () => true,
    computers: () => [...computers.keys()],
    problem: () => problem,
    find: (name) => tools.find(({ definition }) => definition.name === name),
    isListed: (name) => name === "read_document",
    call: ({ definition: { name } }, args) =>
      Promise.resolve(answer ?? { content: [{ type: "text", text: JSON.stringify({ name, args }) }] }),
    results: new LongResults(),
  });
  const { signal } = new AbortController();
  return (name, args) => {
    const tool = made.find(({ definition }) => definition.name === name);
    assert(tool !== undefined, name);
    return tool.run(args, { signal });
  };
}

const textOf = ({ content }: McpToolResult) => content.map(({ text }) => text).join("\n");
const foundBy = ({ structuredContent }: McpToolResult) =>
  (structuredContent as { tools: (Json & { name: string })[] }).tools;

Deno.test("find_tools tells a tool that several Computers have once, and where else it is", async () => {
  const run = await connect([...onBoth, remove]);
  const [read, other] = foundBy(await run("find_tools", { query: "read a file", limit: 2 }));
  assertEquals([read?.name, other?.name], ["desk__read_file", "delete_file"]);
  assertEquals(read?.["sameToolOn"], [{ computer: "laptop", name: "laptop__read_file" }]);
  assertEquals(read?.["inputSchema"], { type: "object", ...path });
});

Deno.test("find_tools marks the tools of Computers that cannot be reached now", async () => {
  const stale = (name: string, computer: string, meta: Json) =>
    officeTool("read_file", "Reads a file", { computer, clientName: name, meta });
  const run = await connect([
    stale("one", "desk", { a2c_stale: true }),
    stale("two", "laptop", { a2c_stale: true }),
    stale("three", "phone", {}),
  ]);
  const [found] = foundBy(await run("find_tools", { query: "read a file" }));
  const all = [found, ...found?.["sameToolOn"] as Json[]].map((tool) => [tool?.["name"], tool?.["stale"]]);
  assertEquals(all.sort(), [["one", true], ["three", undefined], ["two", true]]);
});

Deno.test("find_tools searches one Computer, and says which there are when it is unknown", async () => {
  const run = await connect([...onBoth, remove]);
  const found = foundBy(await run("find_tools", { query: "read a file", computer: "laptop" }));
  assertEquals(found.map(({ name }) => name), ["laptop__read_file", "delete_file"]);
  const unknown = await run("find_tools", { query: "read a file", computer: "lapdog" });
  assertEquals(unknown.isError, true);
  assertMatch(textOf(unknown), /No Computer named "lapdog" \(Computers: desk, laptop\)/);
});

Deno.test("find_tools gives the schema of a tool by its name", async () => {
  const many = Array.from({ length: 30 }, (_, at) => officeTool(`file_${at}_file`, "A file of files"));
  const run = await connect([...many, officeTool("file", "Says nothing that fits")]);
  assertEquals(foundBy(await run("find_tools", { query: "file", limit: 1 })).map(({ name }) => name), [
    "file",
  ]);
});

Deno.test("a tool that only the page of an MCP App may call is neither found nor called for a model", async () => {
  const hidden = officeTool("read_state", "Reads a file", { meta: { ui: { visibility: ["app"] } } });
  const open = officeTool("read_log", "Reads a file", { meta: { ui: { visibility: ["unknown"] } } });
  const run = await connect([hidden, open]);
  const names = async (query: string) => foundBy(await run("find_tools", { query })).map(({ name }) => name);
  assertEquals(await names("read a file"), ["read_log"]);
  assertEquals(await names("read_state"), ["read_log"]);
  const called = await run("call_tool", { name: "read_state" });
  assertEquals(called.isError, true);
  assertEquals((await run("call_tool", { name: "read_log" })).isError, undefined);
});

Deno.test("find_tools says why there is nothing to find", async () => {
  assertMatch(
    textOf(await (await connect([remove]))("find_tools", { query: "xyzzy" })),
    /No tool fits\. Try other words/,
  );
  const alone = await connect([], { problem: "the Server cannot be reached" });
  assertMatch(
    textOf(await alone("find_tools", { query: "file" })),
    /No Computer .*: the Server cannot be reached/,
  );
});

Deno.test("an answer of find_tools with long schemas comes in parts", async () => {
  const tools = Array.from(
    { length: 5 },
    (_, at) =>
      officeTool(`file_${at}`, "A file", {
        schema: { properties: { a: { description: "x".repeat(9_000) } } },
      }),
  );
  const result = await (await connect(tools))("find_tools", { query: "file" });
  assertMatch(textOf(result), /part 1 of 2: go on with read_result/);
  assertEquals(result.structuredContent, undefined);
});

Deno.test("call_tool takes the arguments as an object, as JSON in a text, or not at all", async () => {
  const run = await connect([remove, officeTool("ping", "Pings")]);
  for (const args of [{ path: "a" }, '{"path":"a"}']) {
    const result = await run("call_tool", { name: "delete_file", arguments: args });
    assertEquals(textOf(result), '{"name":"delete_file","args":{"path":"a"}}');
  }
  for (const args of [undefined, null, "", {}]) {
    assertEquals(
      textOf(await run("call_tool", { name: "ping", arguments: args })),
      '{"name":"ping","args":{}}',
    );
  }
  const wrong = await run("call_tool", { name: "ping", arguments: "path: a" });
  assertMatch(textOf(wrong), /"arguments" must be an object/);
});

Deno.test("call_read_tool calls only what says that it modifies nothing", async () => {
  const run = await connect([...onBoth, remove]);
  const read = await run("call_read_tool", { name: "desk__read_file", arguments: { path: "a" } });
  assertEquals(read.isError, undefined);
  const refused = await run("call_read_tool", { name: "delete_file", arguments: { path: "a" } });
  assertMatch(textOf(refused), /may modify something; use call_tool/);
});

Deno.test("call_tool suggests tools with a similar name, or says why there are none", async () => {
  const run = await connect([...onBoth, remove]);
  assertMatch(textOf(await run("call_tool", { name: "delete_fil" })), /Similar ones: "delete_file"/);
  assertMatch(
    textOf(await run("call_tool", { name: "read_file" })),
    /Similar ones: "desk__read_file", "laptop__read_file"/,
  );
  const lost = await connect([], { problem: "the connection was lost" });
  assertMatch(textOf(await lost("call_tool", { name: "read_file" })), /there now: the connection was lost/);
});

Deno.test("read_result goes on with a long result of call_tool", async () => {
  const run = await connect([remove], { answer: { content: [{ type: "text", text: "x".repeat(30_000) }] } });
  const first = textOf(await run("call_tool", { name: "delete_file", arguments: { path: "a" } }));
  const [, handle] = /handle "([^"]+)", part 2/.exec(first) ?? [];
  assertMatch(
    textOf(await run("read_result", { handle, part: 2 })),
    /^x{5000}\n\[part 2 of 2: the last one\]$/,
  );
  assertMatch(textOf(await run("read_result", { handle })), /"part" is missing/);
});

Deno.test("call_tool says of a tool that is in the client's list that it is called directly", async () => {
  const run = await connect([...onBoth, remove]);
  const result = await run("call_tool", { name: "read_document", arguments: { uri: "dpe://host/document" } });
  assertEquals(result.isError, true);
  assertMatch(textOf(result), /"read_document".*directly/);
});
