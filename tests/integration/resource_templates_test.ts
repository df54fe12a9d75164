/** Templates of resources and completion of their parameters, from MCP servers to the Agent. */
import { assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

const PAGE = "dpe://com.example.docs/{doc_ref}/pages/{page_index}";
const ELEMENT = "dpe://com.example.docs/{doc_ref}/elements/{element_id}";
const CAPABILITIES = { tools: {}, resources: { subscribe: true, listChanged: true }, completions: {} };

/** The provider kit's example of documents, as a process. */
function kit(): Record<string, unknown> {
  const file = fromFileUrl(new URL("../../examples/provider/finder.ts", import.meta.url));
  const args = ["run", "-A", "--no-lock", "--no-check", file];
  return { type: "stdio", server_parameters: { command: Deno.execPath(), args } };
}

/** A server whose list of templates is this. */
function listing(resourceTemplates: readonly unknown[], more: Record<string, unknown> = {}): Script {
  const answers = { "resources/templates/list": { resourceTemplates, ...more } };
  return { resources: [], answers };
}

async function refusal(promise: Promise<unknown>): Promise<Pick<SmcpError, "code" | "details">> {
  const { code, details } = await assertRejects(() => promise, SmcpError);
  return { code, details };
}

// proves: finder-templates-discovered, finder-templates-agent, finder-complete-client, mcp-templates
Deno.test("an Agent finds a server's templates, has their parameters completed, and reads what comes of it", async () => {
  await using office = await ComputerOffice.open({ servers: { docs: kit() } });
  const { laptop } = office;
  const { resourceTemplates } = await laptop.getResourceTemplates();
  assertEquals(
    resourceTemplates.map(({ uri_template, mime_type, _meta }) => [uri_template, mime_type, _meta]),
    [PAGE, ELEMENT].map((uri) => [uri, "application/json", { a2c_mcp_server: "docs" }]),
  );
  assertEquals(await laptop.getResourceTemplates("docs"), { resourceTemplates });

  const documents = await laptop.complete({ uri: PAGE, argument: { name: "doc_ref", value: "rpt" } });
  assertEquals(documents, { values: ["rpt-2026"], total: 1, hasMore: false });
  const context = { arguments: { doc_ref: "rpt-2026" } };
  const pages = await laptop.complete({ uri: PAGE, argument: { name: "page_index", value: "" }, context });
  assertEquals(pages.values, ["0", "1"]);
  const elements = await laptop.complete({
    uri: ELEMENT,
    argument: { name: "element_id", value: "tbl" },
    context,
    mcpServer: "docs",
  });
  assertEquals(elements.values, ["tbl-001"]);
  const uri = ELEMENT.replace("{doc_ref}", "rpt-2026").replace("{element_id}", "tbl-001");
  assertEquals((await laptop.readElement(uri, "tbl-001")).element_id, "tbl-001");
});

// proves: finder-templates-discovered
Deno.test("templates of all servers stand in order of precedence, all pages, spelled for this wire, each with its server", async () => {
  const first = {
    uriTemplate: "file:///{path}",
    name: "f",
    mimeType: null,
    title: "Files",
    icons: [{ src: "data:," }, 7],
  };
  const two = listing([first, { name: "no template" }], { nextCursor: "p2" });
  await using office = await ComputerOffice.open({
    servers: {
      two: scripted(two),
      none: scripted({}),
      one: scripted(
        listing([{
          uriTemplate: "git://{ref}",
          mimeType: "text/plain",
          _meta: { a2c_mcp_server: "forged", k: 1 },
        }]),
      ),
    },
  });
  const { resourceTemplates } = await office.laptop.getResourceTemplates();
  const file = {
    uri_template: "file:///{path}",
    name: "f",
    title: "Files",
    icons: [{ src: "data:," }],
    _meta: { a2c_mcp_server: "two" },
  };
  // The server gives one page over and over, which ends where its cursor comes again.
  assertEquals(resourceTemplates, [
    file,
    file,
    { uri_template: "git://{ref}", mime_type: "text/plain", _meta: { a2c_mcp_server: "one", k: 1 } },
  ]);
  assertEquals(await office.laptop.getResourceTemplates("two"), {
    resourceTemplates: [file],
    nextCursor: "p2",
  });
  await office.laptop.getResourceTemplates("two", { cursor: "p2" });
  const asked = (await office.received()).filter(({ method }) => method === "resources/templates/list");
  assertEquals(asked.at(-1)?.params, { cursor: "p2" });
});

Deno.test("a list of templates is refused as a list of resources is", async () => {
  const none = { tools: {} };
  await using office = await ComputerOffice.open(scriptedServers({
    tools: { capabilities: none },
    broken: {
      resources: [],
      answers: { "resources/templates/list": { error: { code: -32603, message: "no" } } },
    },
  }));
  const { laptop } = office;
  assertEquals(await refusal(laptop.getResourceTemplates("ghost")), {
    code: 4014,
    details: { mcp_server: "ghost" },
  });
  assertEquals(await refusal(laptop.getResourceTemplates("tools")), {
    code: 4015,
    details: { mcp_server: "tools", capability: "resources" },
  });
  assertEquals((await refusal(laptop.getResourceTemplates("broken"))).code, 500);
  assertEquals(await refusal(laptop.getResourceTemplates(undefined, { cursor: "x" })), {
    code: 400,
    details: { field: "cursor" },
  });
  assertEquals(await laptop.getResourceTemplates(), { resourceTemplates: [] });
  assertEquals(
    office.log.of("warn").filter(({ message }) => message === "cannot list resource templates").length,
    1,
  );
});

// proves: finder-complete-client
Deno.test("a completion goes to the named server or to the template's host, and says why it cannot", async () => {
  const uri = "window://com.example.shop/{cart}";
  const completion = { values: ["a", 7, ...Array(120).fill("b")], total: -1, hasMore: "?" };
  await using office = await ComputerOffice.open(scriptedServers({
    shop: {
      capabilities: CAPABILITIES,
      resources: [{ uri: "window://com.example.shop/cart" }],
      contents: { "window://com.example.shop/cart": "3" },
      answers: { "completion/complete": { completion } },
    },
    odd: {
      capabilities: CAPABILITIES,
      resources: [],
      answers: { "completion/complete": { completion: [] } },
    },
    plain: { resources: [{ uri: "dpe://plain" }] },
  }));
  const { laptop } = office;
  const argument = { name: "cart", value: "" };
  const { values, hasMore, total } = await laptop.complete({ uri, argument });
  assertEquals([values.length, values[0], values[1], hasMore, total], [100, "a", "b", true, undefined]);
  const details = { mcp_server: "plain", capability: "completions" };
  const cases: readonly [Parameters<typeof laptop.complete>[0], Pick<SmcpError, "code" | "details">][] = [
    [{ uri: "dpe://plain/{doc_ref}", argument }, { code: 4015, details }],
    [{ uri, argument, mcpServer: "plain" }, { code: 4015, details }],
    [{ uri, argument, mcpServer: "ghost" }, { code: 4014, details: { mcp_server: "ghost" } }],
    [{ uri, argument, mcpServer: "odd" }, { code: 500, details: { mcp_server: "odd" } }],
    [{ uri: "dpe://ghost/{d}", argument }, { code: 4201, details: { uri: "dpe://ghost/{d}" } }],
    [{ uri: "window://ghost/{d}", argument }, { code: 404, details: { uri: "window://ghost/{d}" } }],
    [{ uri: "dpe://{host}/x", argument }, { code: 400, details: { field: "ref.uri" } }],
    [{ uri: "file:///{path}", argument }, { code: 400, details: { field: "ref.uri" } }],
  ];
  for (const [options, expected] of cases) assertEquals(await refusal(laptop.complete(options)), expected);
});

Deno.test("an Agent reads what foreign Computers answer: nulls are absent, and a bad part costs that part", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const uri_template = "file:///{path}";
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_resource_templates": ({ req_id }) => ({
        resource_templates: [{ uri_template, name: null, mime_type: "text/plain" }, { name: "none" }],
        next_cursor: null,
        req_id,
      }),
      "client:get_completion": ({ req_id }) => ({
        completion: { values: ["a", null, ...Array(120).fill("b")], total: null, has_more: null },
        req_id,
      }),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  assertEquals(await laptop.getResourceTemplates(), {
    resourceTemplates: [{ uri_template, mime_type: "text/plain" }],
  });
  const completed = await laptop.complete({ uri: uri_template, argument: { name: "path", value: "" } });
  assertEquals([completed.values.length, completed.hasMore, completed.total], [100, true, undefined]);
  const { ref, argument } = computer.lastBody("client:get_completion");
  assertEquals([ref, argument], [{ uri: uri_template }, { name: "path", value: "" }]);
});

Deno.test("of resources and templates that do not fit into one message those that do are shown, and a warning", async () => {
  const resources = ["a", "b", "c"].map((name) => ({ uri: `file:///${name}`, name: "x*40000" }));
  const script = { ...listing(resources.map(({ uri, name }) => ({ uriTemplate: uri, name }))), resources };
  await using office = await ComputerOffice.open(scriptedServers({ big: script }), {
    server: { maxPayloadBytes: 100_000 },
  });
  const { laptop } = office;
  assertEquals((await laptop.getResources("big")).resources.map(({ uri }) => uri), [
    "file:///a",
    "file:///b",
  ]);
  const { resourceTemplates } = await laptop.getResourceTemplates();
  assertEquals(resourceTemplates.map(({ uri_template }) => uri_template), ["file:///a", "file:///b"]);
  const left = office.log.of("warn").filter(({ message }) => message.includes("left out of an answer"));
  assertEquals(left.map(({ fields }) => fields["count"]), [1, 1]);
});

Deno.test("of a configuration that does not fit into one message the largest servers and inputs are left out", async () => {
  const tools = Object.fromEntries(Array.from({ length: 8000 }, (_, index) => [`tool-number-${index}`, {}]));
  const server_parameters = { command: "none" };
  await using office = await ComputerOffice.open({
    servers: {
      small: { type: "stdio", disabled: true, server_parameters },
      large: { type: "stdio", disabled: true, tool_meta: tools, server_parameters },
    },
    inputs: [{ id: "key", type: "promptString", description: "A key", password: true }],
  }, { server: { maxPayloadBytes: 100_000 } });
  const { servers, inputs } = await office.laptop.getConfig();
  assertEquals([Object.keys(servers), inputs?.map(({ id }) => id)], [["small"], ["key"]]);
});
