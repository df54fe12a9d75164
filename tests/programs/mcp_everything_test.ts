import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { EVERYTHING, startEverything } from "../../examples/everything_servers.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { isRecord } from "../../src/json/json.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const auto = { default_tool_meta: { auto_apply: true } };
const stdio = {
  ...auto,
  type: "stdio",
  server_parameters: { command: Deno.execPath(), args: ["run", "-A", "--no-lock", "--quiet", EVERYTHING] },
};

/** The public server over each transport, as a Computer's configuration. */
async function startAll() {
  const [streamable, sse] = await Promise.all([startEverything("streamableHttp"), startEverything("sse")]);
  return {
    config: {
      servers: {
        stdio,
        streamable: { ...auto, type: "streamable", server_parameters: { url: streamable.url } },
        sse: { ...auto, type: "sse", server_parameters: { url: sse.url } },
      },
    },
    streamable,
    sse,
    async [Symbol.asyncDispose]() {
      await Promise.all([streamable[Symbol.asyncDispose](), sse[Symbol.asyncDispose]()]);
    },
  };
}

// proves: data-config-streamable, data-config-union, desktop-flow-pull
Deno.test("the public server works over stdio, Streamable HTTP and SSE", async (t) => {
  await using servers = await startAll();
  await using office = await ComputerOffice.open(servers.config);
  const prefixes = ["", "streamable__", "sse__"];

  await t.step("its tools are listed with their schemas and annotations", async () => {
    const tools = await office.laptop.getTools();
    for (const prefix of prefixes) {
      const sum = tools.find(({ name }) => name === `${prefix}get-sum`);
      assertEquals(Object.keys(sum?.params_schema["properties"] ?? {}), ["a", "b"], prefix);
    }
    const structured = tools.find(({ name }) => name === "get-structured-content");
    assert(structured?.return_schema !== null);
  });

  await t.step("its tools are called with their results as they are", async () => {
    for (const prefix of prefixes) {
      const { content, isError } = await office.laptop.callTool(`${prefix}echo`, { message: "grüß dich 😀" });
      assertEquals([content[0]?.text, isError], ["Echo: grüß dich 😀", false]);
      const image = await office.laptop.callTool(`${prefix}get-tiny-image`);
      assert(image.content.some(({ type, mimeType }) => type === "image" && mimeType === "image/png"));
      const structured = await office.laptop.callTool(`${prefix}get-structured-content`, {
        location: "Chicago",
      });
      const { structuredContent } = structured;
      assert(isRecord(structuredContent) && typeof structuredContent["temperature"] === "number");
    }
  });

  await t.step("wrong arguments are refused by name", async () => {
    for (const prefix of prefixes) {
      const { content, isError } = await office.laptop.callTool(`${prefix}get-sum`, { a: "one" });
      assertEquals([isError, content[0]?.text], [
        true,
        `Tool "${prefix}get-sum" was not called: argument "b" is missing; argument "a" must be number`,
      ]);
    }
  });

  await t.step("a call is answered in its time or ends with it", async () => {
    for (const prefix of prefixes) {
      const tool = `${prefix}trigger-long-running-operation`;
      const late = await office.laptop.callTool(tool, { duration: 600, steps: 600 }, { timeoutMs: 1_000 });
      assertEquals([late.isError, late.meta?.error_code], [true, 4004]);
      const quick = await office.laptop.callTool(tool, { duration: 0.1, steps: 1 });
      assertEquals(quick.isError, false);
    }
  });

  await t.step("its resources are listed and read", async () => {
    for (const name of ["stdio", "streamable", "sse"]) {
      const { resources } = await office.laptop.getResources(name);
      const [first] = resources;
      assert(first !== undefined, name);
      const { contents } = await office.laptop.readResource(first.uri, { mcpServer: name });
      assertEquals(contents[0]?.uri, first.uri);
    }
  });

  await t.step("a call in flight when a server is killed is 4003 at once, and the others go on", async () => {
    for (const [name, server] of [["streamable", servers.streamable], ["sse", servers.sse]] as const) {
      const retrying = office.log.next(stateOf(name, "retrying"));
      const tool = `${name}__trigger-long-running-operation`;
      const call = office.laptop.callTool(tool, { duration: 600, steps: 600 }, { timeoutMs: 600_000 });
      // Answers keep their order on one connection, so the call has reached the Computer.
      await office.laptop.callTool(`${name}__echo`, { message: "are you there" });
      await server[Symbol.asyncDispose]();
      const { meta, content } = await call;
      assertEquals(meta?.error_code, 4003);
      assertStringIncludes(content[0]?.text ?? "", `Cannot use MCP server "${name}": retrying`);
      await retrying;
      assertEquals((await office.laptop.callTool("echo", { message: "x" })).isError, false);
    }
  });
});

// proves: mcp-task-questions
Deno.test("the public server's task asks its question of the Agent, over stdio and over HTTP", async () => {
  await using http = await startEverything("streamableHttp");
  const elicitation = "agent";
  const streamable = { ...auto, elicitation, type: "streamable", server_parameters: { url: http.url } };
  await using office = await ComputerOffice.open({
    servers: { stdio: { ...stdio, elicitation }, streamable },
  });
  for (const prefix of ["", "streamable__"]) {
    const args = { topic: "python", ambiguous: true };
    const { isError, content } = await office.laptop.callTool(`${prefix}simulate-research-query`, args, {
      onQuestion: () => ({ action: "accept", content: { interpretation: "snake" } }),
    });
    assertEquals(isError, false, prefix);
    assertStringIncludes(content[0]?.text ?? "", "python (snake)");
  }
});

// proves: mcp-task-poll
Deno.test("the public server's task reports its stages, and its result arrives", async () => {
  await using office = await ComputerOffice.open({ servers: { stdio } });
  const stages: (string | undefined)[] = [];
  const { isError, content } = await office.laptop.callTool("simulate-research-query", { topic: "tea" }, {
    onProgress: ({ message }) => stages.push(message),
  });
  assertEquals(isError, false);
  assertStringIncludes(content[0]?.text ?? "", "Research Report: tea");
  assert(stages.length > 1, stages.join());
});
