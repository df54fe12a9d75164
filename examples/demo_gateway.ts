/**
 * The gateway at work: two Computers in an office, and an MCP client that reaches both by one command. The client is the
 * official one of the MCP SDK, as Claude, VS Code, Cursor or Codex have one inside. Each step says in plain words what
 * happens, and checks that it did.
 *
 * ```sh
 * deno run -A examples/demo_gateway.ts
 * ```
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { Computer } from "../computer.ts";
import { SmcpServer } from "../server.ts";
import { EVERYTHING } from "./everything_servers.ts";

/** The time limit of the demo, which normally takes a few seconds. */
const MAX_DEMO_MS = 60_000;
const OVERVIEW = "window://com.example.workspace/overview";

async function main(): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const documents = await copyDocuments(cleanup);

  step(
    "A Server, and two Computers that could stand anywhere: a laptop with documents, a desk with other tools.",
  );
  const server = cleanup.use(await SmcpServer.listen({ port: 0 }));
  const laptop = cleanup.use(Computer.open({ name: "laptop", config: workspace(documents) }));
  const desk = cleanup.use(Computer.open({ name: "desk", config: everything() }));
  for (const computer of [laptop, desk]) {
    await computer.join({ url: server.url, office: "demo" });
    await computer.ready();
  }
  tell("laptop and desk are in the office");

  step("One command makes the office an MCP server: agent.ts mcp --url … --office demo --name ada");
  const client = new Client({ name: "demo", version: "1.0.0" });
  const changes = watchChanges(client);
  cleanup.defer(() => client.close());
  await client.connect(gateway(server.url));
  tell(`connected to ${client.getServerVersion()?.title}`);

  await callTools(client);
  await readDocuments(client);
  await watchWindow(client, { documents, changes });
  await seeComputerLeave(client, { desk, changes });

  step("The client closes its end, and the gateway leaves the office.");
}

/** The demo changes a file, so it works on a copy. */
async function copyDocuments(cleanup: AsyncDisposableStack): Promise<string> {
  const source = fromFileUrl(new URL("documents", import.meta.url));
  const folder = await Deno.makeTempDir({ prefix: "a2c-smcp-demo-" });
  cleanup.defer(() => Deno.remove(folder, { recursive: true }));
  for await (const { name } of Deno.readDir(source)) {
    await Deno.copyFile(join(source, name), join(folder, name));
  }
  return folder;
}

function workspace(documents: string) {
  const program = fromFileUrl(new URL("workspace/server.ts", import.meta.url));
  return configOf("workspace", ["run", "--allow-read", program, documents]);
}

function everything() {
  return configOf("everything", ["run", "-A", "--no-lock", EVERYTHING, "stdio"]);
}

function configOf(name: string, args: string[]) {
  const server_parameters = { command: Deno.execPath(), args };
  return {
    servers: { [name]: { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters } },
  };
}

function gateway(url: string): StdioClientTransport {
  const program = fromFileUrl(new URL("../agent.ts", import.meta.url));
  const connection = ["--url", url, "--office", "demo", "--name", "ada"];
  return new StdioClientTransport({
    command: Deno.execPath(),
    args: ["run", "-A", "--quiet", program, "mcp", ...connection],
  });
}

/** What the client is told of. */
interface Changes {
  /** The next change of a resource. */
  resource(): Promise<string>;
  /** The next change of the list of tools. */
  tools(): Promise<void>;
}

function watchChanges(client: Client): Changes {
  let resource = Promise.withResolvers<string>();
  let tools = Promise.withResolvers<void>();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    resource.resolve(params.uri);
    resource = Promise.withResolvers();
  });
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    tools.resolve();
    tools = Promise.withResolvers();
  });
  return { resource: () => resource.promise, tools: () => tools.promise };
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((item) => item.type === "text" ? item.text : `[${item.type}]`).join("\n");
}

async function callTools(client: Client): Promise<void> {
  step("The tools of both Computers are one list, with names that clients accept.");
  const { tools } = await client.listTools();
  tell(`${tools.length} tools: ${tools.slice(0, 6).map(({ name }) => name).join(", ")}, …`);
  assert(tools.every(({ name }) => /^[a-zA-Z0-9_-]{1,48}$/.test(name)));

  step("Who is there?");
  const computers = await call(client, "list_computers", {});
  tell(computers);
  assertStringIncludes(computers, 'Computer "laptop"');

  step("One call on each Computer.");
  const words = await call(client, "count_words", { document: "runbook.md" });
  const sum = await call(client, "get-sum", { a: 40, b: 2 });
  tell(`count_words on the laptop: ${words}\nget-sum on the desk: ${sum}`);
  assertStringIncludes(words, "runbook.md has");
  assertStringIncludes(sum, "42");
}

async function readDocuments(client: Client): Promise<void> {
  step("Documents, for a client that knows nothing but tools: find one, and read a page as Markdown.");
  const found = await call(client, "find_documents", { keywords: ["revenue"] });
  tell(found);
  const [uri = ""] = /dpe:\S+/.exec(found) ?? [];
  const page = await call(client, "read_document", { uri, pages: "1" });
  tell(page);
  assertStringIncludes(page, "| Region | Q2 (k€) |");
}

async function watchWindow(
  client: Client,
  { documents, changes }: { readonly documents: string; readonly changes: Changes },
): Promise<void> {
  step("A window is a resource: the client subscribes to it, and is told when a file on the laptop changes.");
  await client.subscribeResource({ uri: OVERVIEW });
  const changed = changes.resource();
  await Deno.writeTextFile(join(documents, "runbook.md"), "\n## Lessons\n\nAsk first.\n", { append: true });
  const uri = await changed;
  assertEquals(uri, OVERVIEW);
  const { contents: [window] } = await client.readResource({ uri });
  tell(`${uri} has changed:\n${window !== undefined && "text" in window ? window.text : ""}`);
}

async function seeComputerLeave(
  client: Client,
  { desk, changes }: { readonly desk: Computer; readonly changes: Changes },
): Promise<void> {
  step("The desk leaves: its tools are gone from the list, and the client is told.");
  const before = (await client.listTools()).tools.length;
  const changed = changes.tools();
  await desk.close();
  await changed;
  const after = (await client.listTools()).tools.length;
  tell(`${before} tools before, ${after} after`);
  assert(after < before);
  tell(await call(client, "get-sum", { a: 1, b: 1 }));
}

let stepNumber = 0;

function step(text: string): void {
  console.log(`\n${++stepNumber}. ${text}`);
}

function tell(text: string): void {
  console.log(text.split("\n").map((line) => `   ${line}`.trimEnd()).join("\n"));
}

if (import.meta.main) {
  const watchdog = setTimeout(() => {
    console.error(`error: The demo did not end in ${MAX_DEMO_MS} ms`);
    Deno.exit(1);
  }, MAX_DEMO_MS);
  await main();
  clearTimeout(watchdog);
  console.log("\nAll steps worked.");
}
