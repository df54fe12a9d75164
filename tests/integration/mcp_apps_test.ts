/** MCP Apps: the page of a tool, from its MCP server to the author of an Agent. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { isRecord } from "../../src/json/json.ts";
import { isForModel, toolDetails } from "../../src/protocol/tool_details.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

const PAGE = {
  uri: "ui://shop/cart",
  mimeType: "text/html;profile=mcp-app",
  text: "<!doctype html><title>Cart</title>",
  _meta: { ui: { csp: { connectDomains: ["https://api.example.com"] }, prefersBorder: true } },
};
const TOOLS = [
  {
    name: "show_cart",
    title: "Show the cart",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { items: { type: "integer" } } },
    execution: { taskSupport: "forbidden" },
    _meta: { ui: { resourceUri: PAGE.uri, visibility: ["model", "app"] }, "com.example/order": 1 },
  },
  {
    name: "set_amount",
    inputSchema: { type: "object" },
    _meta: { ui: { resourceUri: PAGE.uri, visibility: ["app"] } },
  },
];

// proves: ext-tool-execution, ext-app-ui, ext-app-page
Deno.test("the page of a tool is found by the tool's metadata and read whole, with what it may load", async () => {
  const contents = { [PAGE.uri]: [PAGE] };
  await using office = await ComputerOffice.open(
    scriptedServers({ shop: { tools: TOOLS, resources: [], contents } }),
  );
  const { laptop } = office;
  const tools = await laptop.getTools();
  const shown = tools.find(({ name }) => name === "show_cart") ?? {};
  const { title, mcpServer, ui, taskSupport, meta } = toolDetails(shown);
  assertEquals({ title, mcpServer, ui, taskSupport }, {
    title: "Show the cart",
    mcpServer: "shop",
    ui: { resourceUri: PAGE.uri, visibility: ["model", "app"] },
    taskSupport: "forbidden",
  });
  assertEquals(meta?.["com.example/order"], 1);
  const { contents: read } = await laptop.readResource(ui?.resourceUri ?? "", { mcpServer });
  assertEquals(read, [PAGE]);
});

// proves: ext-app-only
Deno.test("a tool that its page alone may call is listed and called as any other, and an Agent can leave it out", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ shop: { tools: TOOLS } }));
  const tools = (await office.laptop.getTools()).filter(({ name }) =>
    TOOLS.some((tool) => tool.name === name)
  );
  assertEquals(tools.map((tool) => [tool.name, isForModel(tool)]), [["show_cart", true], [
    "set_amount",
    false,
  ]]);
  const { isError } = await office.laptop.callTool("set_amount", { amount: 2 });
  assertEquals(isError, false);
});

// proves: ext-app-announced
Deno.test("a server is told that pages can be shown only where its entry says so", async () => {
  await using office = await ComputerOffice.open({
    servers: { shop: scripted({}, { apps: true }), plain: scripted({}) },
  });
  const told = async (tool: string) => {
    const [initialize] = await office.received(tool);
    const capabilities = initialize?.params?.["capabilities"];
    return isRecord(capabilities) ? capabilities["extensions"] : undefined;
  };
  const apps = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  assertEquals([await told("received"), await told("plain__received")], [apps, undefined]);
});

Deno.test("examples/mcp_app.ts ends with a checked outcome", async () => {
  const example = fromFileUrl(new URL("../../examples/mcp_app.ts", import.meta.url));
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", example],
    stdin: "null",
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  assertStringIncludes(new TextDecoder().decode(stdout), 'Show the cart: "5 × apple"');
});
