/** Attacker: a Computer. Its answers hold so many wrong entries that its Agent would do nothing but read them, or mislead it */
import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import { MAX_BAD_ENTRIES } from "../../src/protocol/flaws.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { ScriptedComputer } from "../integration/_scripted_computer.ts";

const COUNT = 20_000;

function filled(value: unknown): unknown[] {
  return Array.from({ length: COUNT }, () => value);
}

const answers = {
  "client:get_tools": () => ({ tools: filled(null) }),
  "client:get_finder": () => ({ documents: filled({}), total_count: 0 }),
  "client:get_config": () => ({
    servers: Object.fromEntries(filled({}).map((server, index) => [index, server])),
  }),
};

const requests: Record<string, (computer: RemoteComputer) => Promise<unknown>> = {
  tools: (computer) => computer.getTools(),
  documents: (computer) => computer.getFinder(),
  servers: (computer) => computer.getConfig(),
};

for (const [member, request] of Object.entries(requests)) {
  Deno.test(`an answer of wrong ${member} costs its Agent no more than the first of them`, async () => {
    const log = new LogBook();
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, { answers });
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", logger: log });
    await request(agent.computer("laptop"));
    assertEquals(log.of("warn").map(({ fields }) => fields["count"]), [MAX_BAD_ENTRIES + 1]);
  });
}

/** Megabytes of these took minutes: a schema looked at each byte as at a member of an object. */
const BYTES = new Uint8Array(4 * 1024 * 1024);
const inPlaceOfText: Record<
  string,
  { readonly answer: unknown; readonly request: (computer: RemoteComputer) => Promise<unknown> }
> = {
  "client:get_config": {
    answer: { servers: { files: { name: "files", type: "stdio", server_parameters: BYTES } } },
    request: (computer) => computer.getConfig(),
  },
  "client:get_tools": {
    answer: { tools: [{ name: "read", description: "", params_schema: BYTES, return_schema: null }] },
    request: (computer) => computer.getTools(),
  },
  "client:tool_call": { answer: BYTES, request: (computer) => computer.callTool("read") },
};

for (const [event, { answer, request }] of Object.entries(inPlaceOfText)) {
  Deno.test(`bytes in an answer to "${event}" are a wrong answer, at once`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, { answers: { [event]: () => answer } });
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
    const read = request(agent.computer("laptop"));
    const { code, message } = await within(assertRejects(() => read, SmcpError), "the answer");
    assertEquals([code, message.includes("bytes")], [500, true], message);
  });
}

Deno.test("the identity of an MCP server that is no text is left out, and its tool stays", async () => {
  const log = new LogBook();
  await using server = await SmcpServer.listen({ port: 0 });
  const tools = ["files", 5, null, { a: 1 }].map((bundle_id, n) => ({
    name: `files__read${n}`,
    description: "",
    params_schema: { type: "object" },
    return_schema: null,
    meta: {},
    bundle_id,
  }));
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_tools": () => ({ tools }) },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", logger: log });
  const read = await agent.computer("laptop").getTools();
  assertEquals(read.map((tool) => "bundle_id" in tool ? tool.bundle_id : "none"), [
    "files",
    "none",
    "none",
    "none",
  ]);
  assertEquals(log.of("warn").map(({ fields }) => fields["count"]), [2]);
});

Deno.test("a file of a skill has the names that were asked for, whatever the Computer calls it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const answer = { name: "/etc", rel_path: "../../passwd", body: "", total_size: 0, sha256 };
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_skill": () => answer },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  const files = [await laptop.getSkill("notes"), await laptop.getSkill("notes", { relPath: "a.md" })];
  assertEquals(files.map(({ name, relPath }) => [name, relPath]), [["notes", "SKILL.md"], ["notes", "a.md"]]);
});
