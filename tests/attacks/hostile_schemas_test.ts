/** Attacker: an MCP server. It lists tools whose input schemas cost the Computer time and memory */
import { assert, assertEquals } from "@std/assert";
import { checkArguments } from "../../src/computer/tools/arguments.ts";
import { readHeaderParameters } from "../../src/protocol/tool_headers.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";
import { TOOLS_CHANGED } from "../fixtures/script.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { hostileSchemas, names } from "./_hostile_schemas.ts";
import { eventually } from "../fixtures/within.ts";

Deno.test("no hostile schema becomes any code, or more than a few short problems", () => {
  const { Function: original } = globalThis;
  const forbidden = () => assert(false, "code was generated");
  Object.assign(globalThis, { Function: forbidden });
  try {
    for (const scale of [1, 4]) {
      for (const { name, schema, args } of hostileSchemas(scale)) {
        const { problems } = checkArguments(schema, args);
        assert(problems.length <= 11 && problems.join().length < 32_768, name);
      }
    }
  } finally {
    Object.assign(globalThis, { Function: original });
  }
});

Deno.test("a schema that is as deep and as wide as a message may be is searched for headers in little memory", () => {
  const wide = Object.fromEntries(names(150_000).map((name) => [name, 1]));
  let schema: Record<string, unknown> = { properties: wide };
  for (let level = 0; level < 490; level++) schema = { properties: { a: schema } };
  // A path for each part would take 600 MB, and the parts as arguments of one call more than the stack has.
  assertEquals(readHeaderParameters(schema), { parameters: [] });
});

Deno.test("a tool with a schema that no Server passes on is left out with a warning, and an Agent is told of the others", async () => {
  let schema: Record<string, unknown> = { type: "string" };
  // A message that is nested deeper than 1,000 levels ends its MCP server.
  for (let level = 0; level < 900; level++) schema = { not: schema };
  await using office = await ComputerOffice.open(scriptedServers({
    bad: {
      tools: [{ name: "deep", inputSchema: schema }, { name: "flat", inputSchema: { type: "object" } }],
    },
    good: { tools: [{ name: "fine", inputSchema: { type: "object" } }] },
  }));
  const listed = (await office.laptop.getTools()).map(({ name }) => name).filter((name) =>
    !/become|received/.test(name)
  );
  assertEquals(listed.sort(), ["fine", "flat"]);
  const warnings = office.log.of("warn").filter(({ message }) => message.includes('"deep"'));
  assertEquals(warnings.length, 1);
});

Deno.test("tools with hostile schemas are called all the same, and the other server's tool in between", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({
      bad: {},
      good: { tools: [{ name: "fine", inputSchema: { type: "object", required: ["a"] } }] },
    }),
  );
  const hostile = hostileSchemas().map((attack, index) => ({ ...attack, tool: `t${index}` }));
  // A few at a time, since one message holds no more values than a bounded number.
  for (let start = 0; start < hostile.length; start += 5) {
    const some = hostile.slice(start, start + 5);
    const tools = some.map(({ tool, schema }) => ({ name: tool, inputSchema: schema }));
    // By the Computer's own program: an Agent's parameters may not be nested as deep.
    await office.computer.callTool("become", { tools, tell: [TOOLS_CHANGED] });
    const isListed = () => office.computer.tools.some(({ name }) => name === `t${start}`);
    await eventually(isListed, (isListed) => isListed, `the tool "t${start}"`);
    for (const { tool, name, args } of some) {
      const { isError, content } = await office.laptop.callTool(tool, args, { timeoutMs: 600_000 });
      const text = content[0]?.text ?? "";
      // Either the server was asked, or its own schema refuses what it was given.
      assert(isError !== true || text.includes("was not called"), `${name}: ${text}`);
      assertEquals((await office.laptop.callTool("fine", { a: 1 })).isError ?? false, false, name);
    }
  }
  const warnings = office.log.of("warn").filter(({ message }) =>
    message.startsWith("arguments are not checked")
  );
  assert(warnings.length > 0);
  assert(warnings.every(({ fields }) => fields["server"] === "bad"), JSON.stringify(warnings[0]));
});
