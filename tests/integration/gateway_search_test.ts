/** A client that searches the tools of an office in place of listing them. */
import { assertEquals, assertMatch } from "@std/assert";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { connectV1, GatewayOffice } from "./_gateway_office.ts";

// The transports of the official clients wait with a timer for the end of a program, and leave it behind.
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn });

const SEARCH = ["find_tools", "call_read_tool", "call_tool", "read_result"];
const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: "object",
  properties,
  required,
});
const FILES = scriptedServers({
  files: {
    tools: [
      {
        name: "read_file",
        description: "Reads a file",
        inputSchema: object({ path: { type: "string" } }, ["path"]),
        annotations: { readOnlyHint: true },
      },
      {
        name: "delete_file",
        description: "Deletes a file",
        inputSchema: object({ path: { type: "string" } }),
      },
    ],
    answers: { "tools/call delete_file": { content: [{ type: "text", text: "x".repeat(60_000) }] } },
  },
});

type Client = Awaited<ReturnType<typeof connectV1>>;

const namesOf = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }: { name: string }) => name);

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args }) as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}

test("finds tools and calls them, split by what they do", async () => {
  await using office = await GatewayOffice.open({ laptop: FILES });
  await using client = await connectV1(office.words(["--tools", "search", "--no-builtin-tools"]));
  assertEquals(await namesOf(client), SEARCH);

  const found = JSON.parse(await call(client, "find_tools", { query: "remove a file", limit: 2 }));
  const names = found.tools.map(({ name }: { name: string }) => name);
  assertEquals(names, ["delete_file", "read_file"]);
  assertEquals(found.tools[1].inputSchema.required, ["path"]);

  const read = { name: "read_file", arguments: { path: "a" } };
  assertEquals(await call(client, "call_read_tool", read), '{"name":"read_file","args":{"path":"a"}}');
  const remove = { name: "delete_file", arguments: { path: "a" } };
  assertMatch(await call(client, "call_read_tool", remove), /may modify something; use call_tool/);
  assertMatch(await call(client, "call_tool", { name: "read_file" }), /was not called: .*path/);
  assertMatch(await call(client, "call_tool", { name: "read_files" }), /Similar ones: "read_file"/);
  assertMatch(await call(client, "find_tools", { query: "xyzzy" }), /No tool fits/);

  const long = await call(client, "call_tool", remove);
  const [, handle = ""] = /handle "([^"]+)", part 2/.exec(long) ?? [];
  assertMatch(await call(client, "read_result", { handle, part: 3 }), /^x+\n\[part 3 of 3: the last one\]$/);
});

test("auto lists few tools, and searches many", async () => {
  const many = Array.from(
    { length: 40 },
    (_, index) => ({ name: `tool_${index}`, inputSchema: { type: "object" } }),
  );
  await using office = await GatewayOffice.open({ laptop: FILES });
  await using client = await connectV1(office.words(["--tools", "auto", "--no-builtin-tools"]));
  assertEquals((await namesOf(client)).includes("read_file"), true);
  await office.add("desk", scriptedServers({ many: { tools: many } }));
  // The gateway hears of the Computer some time after it has joined.
  while ((await namesOf(client)).includes("read_file"));
  assertEquals(await namesOf(client), SEARCH);
});
