/**
 * An MCP App on its way through an office: an MCP server has a tool with a page, and the Agent's program reads both the
 * result and the page. It checks what it got, and exits:
 *
 * ```sh
 * deno run -A examples/mcp_app.ts
 * ```
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { z } from "zod";
import { Agent, isForModel, type RemoteComputer, toolDetails } from "../agent.ts";
import { Computer } from "../computer.ts";
import { SmcpServer } from "../server.ts";

const PAGE = "ui://shop/cart";
const HTML =
  `<!doctype html><title>Cart</title><ul id="items"></ul><script>/* speaks MCP with its host */</script>`;

/** The MCP server: `show_cart` is for the model, `set_amount` for the page alone. */
function newShop(): McpServer {
  const shop = new McpServer({ name: "shop", title: "Example Shop", version: "1.0.0" }, {
    instructions: "Show the cart before you ask for a payment.",
  });
  const items = new Map([["apple", 3]]);
  shop.registerTool(
    "show_cart",
    {
      title: "Show the cart",
      _meta: { ui: { resourceUri: PAGE } },
    },
    () => ({
      content: [{ type: "text", text: [...items].map(([name, count]) => `${count} × ${name}`).join(", ") }],
    }),
  );
  shop.registerTool("set_amount", {
    inputSchema: z.object({ name: z.string(), count: z.number().int() }),
    _meta: { ui: { resourceUri: PAGE, visibility: ["app"] } },
  }, ({ name, count }) => {
    items.set(name, count);
    return { content: [{ type: "text", text: "Done" }] };
  });
  const _meta = { ui: { csp: { resourceDomains: ["https://cdn.example.com"] }, prefersBorder: true } };
  shop.registerResource("cart", PAGE, { mimeType: "text/html;profile=mcp-app" }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: "text/html;profile=mcp-app", text: HTML, _meta }],
  }));
  return shop;
}

/** What a host program does for its user: shows what the tool says, and the page of the tool in a sandbox. */
async function useCart(laptop: RemoteComputer): Promise<string> {
  const tools = await laptop.getTools();
  const forModel = tools.filter(isForModel);
  assertEquals(forModel.map(({ name }) => name), ["show_cart"]);
  const [cart] = forModel;
  assert(cart !== undefined);
  const { ui, mcpServer, title } = toolDetails(cart);
  assert(ui?.resourceUri !== undefined);

  const { contents: [page] } = await laptop.readResource(ui.resourceUri, { mcpServer });
  assertEquals(page?.text, HTML);
  assertEquals(page?._meta?.["ui"], {
    csp: { resourceDomains: ["https://cdn.example.com"] },
    prefersBorder: true,
  });

  // The page asks its host for this call; the model has no part in it.
  await laptop.callTool("set_amount", { name: "apple", count: 5 });
  const { content: [item] } = await laptop.callTool(cart.name);
  assertEquals(item?.text, "5 × apple");
  return `${title}: "${item?.text}", with a page of ${HTML.length} characters`;
}

async function main(): Promise<void> {
  const args = ["run", "-A", "--no-lock", "--quiet", fromFileUrl(import.meta.url), "--stdio"];
  const shop = {
    type: "stdio",
    default_tool_meta: { auto_apply: true },
    server_parameters: { command: Deno.execPath(), args },
  };
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = Computer.open({ name: "laptop", config: { servers: { shop } } });
  await computer.ready();
  await computer.join({ url: server.url, office: "demo" });
  await using agent = await Agent.connect({ url: server.url, office: "demo", name: "ada" });
  const laptop = agent.computer("laptop");
  const [described] = await laptop.getMcpServers();
  console.log(`${described?.server_info?.title}: ${described?.instructions}`);
  console.log(await useCart(laptop));
}

if (import.meta.main) {
  if (Deno.args.includes("--stdio")) serveStdio(newShop);
  else await main();
}
