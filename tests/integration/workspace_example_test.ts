/** The example workspace server, spoken to by MCP's own client: what it shows others is what the specification asks for. */
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { silentLogger } from "../../src/log.ts";
import { ProcessGuard } from "../../src/mcp/stdio/guard.ts";
import { Inflow } from "../../src/mcp/json_rpc.ts";
import { DEFAULT_SERVER_LIMITS } from "../../src/mcp/limits.ts";
import { StdioTransport } from "../../src/mcp/stdio/transport.ts";

const HOST = "com.example.workspace";
const REPORT = `dpe://${HOST}/report.md`;
const TABLE = "| a | b |\n| - | - |\n| 1 | 2 |\n";

/** A workspace over a folder of its own, and a client that remembers what it is told. */
interface Workspace extends AsyncDisposable {
  readonly client: Client;
  readonly folder: string;
  /** Resolves to the parameters of the next notification of this method; `{}` when it has none. */
  next(method: string): Promise<Record<string, unknown>>;
}

async function openWorkspace(): Promise<Workspace> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(join(folder, "report.md"), `# One\n\nText.\n\n## Two\n\n${TABLE}`);
  await Deno.writeTextFile(join(folder, "data.csv"), "name,n\nx,1\n");
  const client = new Client({ name: "test", version: "1.0.0" });
  const waiting = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();
  client.fallbackNotificationHandler = ({ method, params }) => {
    waiting.get(method)?.resolve({ ...params });
    waiting.delete(method);
    return Promise.resolve();
  };
  const server = fromFileUrl(new URL("../../examples/workspace/server.ts", import.meta.url));
  const guard = new ProcessGuard();
  await client.connect(
    new StdioTransport({
      command: Deno.execPath(),
      args: ["run", "--allow-read", server, folder],
      env: null,
      cwd: null,
      encoding: "utf-8",
      encoding_error_handler: "strict",
    }, { guard, log: silentLogger, limits: DEFAULT_SERVER_LIMITS, inflow: new Inflow() }),
  );
  return {
    client,
    folder,
    next(method) {
      const waiter = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(method, waiter);
      return waiter.promise;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await guard.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function read(client: Client, uri: string): Promise<string> {
  const [content] = (await client.readResource({ uri })).contents;
  assert(content !== undefined && "text" in content);
  return content.text;
}

async function readJson(client: Client, uri: string): Promise<Record<string, unknown>> {
  return JSON.parse(await read(client, uri));
}

// proves: desktop-provide-list, desktop-provide-read, mcp-read, mcp-resource
Deno.test("the workspace lists its windows with annotations and reads them as text", async () => {
  await using workspace = await openWorkspace();
  const { resources } = await workspace.client.listResources();
  const windows = resources.filter(({ uri }) => uri.startsWith("window://"));
  assertEquals(windows.map(({ uri, annotations }) => [uri, annotations]), [
    [`window://${HOST}/overview`, { priority: 0.8, audience: ["assistant"] }],
    [`window://${HOST}/activity`, { priority: 0.4, audience: ["assistant"] }],
  ]);
  assertStringIncludes(await read(workspace.client, `window://${HOST}/overview`), "2 documents");
});

// proves: finder-provide-list, finder-provide-templates, mcp-templates
Deno.test("the workspace lists one document for each file, and templates for pages and elements", async () => {
  await using workspace = await openWorkspace();
  const { resources } = await workspace.client.listResources();
  assertEquals(resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("dpe://")), [
    `dpe://${HOST}/data.csv`,
    REPORT,
  ]);
  const { resourceTemplates } = await workspace.client.listResourceTemplates();
  assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
    `dpe://${HOST}/{doc_ref}/pages/{page_index}`,
    `dpe://${HOST}/{doc_ref}/elements/{element_id}`,
  ]);
});

// proves: dpe-content-level-0, dpe-content-metadata, dpe-content-pages, dpe-content-level-2, dpe-content-level-3
Deno.test("the workspace answers all four levels of a document in the specification's shapes", async () => {
  await using workspace = await openWorkspace();
  const { client } = workspace;
  assertEquals((await readJson(client, `dpe://${HOST}`))["total_count"], 2);

  const document = await readJson(client, REPORT);
  assertEquals([document["doc_ref"], document["file_type"], document["page_count"]], ["report.md", "md", 2]);
  assertEquals("pages" in document, false);

  const index = await readJson(client, `${REPORT}?depth=pages&offset=1&limit=1`);
  assertEquals(index["pages"], [
    { page_index: 1, title: "Two", element_count: 2, uri: `${REPORT}/pages/1`, doc_ref: "report.md" },
  ]);
  assertEquals([index["page_offset"], index["page_limit"], index["page_total"]], [1, 1, 2]);

  const page = await readJson(client, `${REPORT}/pages/1`);
  assertEquals([page["page_index"], page["title"], page["element_count"]], [1, "Two", 2]);

  assertEquals(await readJson(client, `${REPORT}/elements/p1-e1`), {
    element_id: "p1-e1",
    category: "table",
    doc_ref: "report.md",
    page_index: 1,
    uri: `${REPORT}/elements/p1-e1`,
    summary: "a, b (1 rows)",
    content: { headers: ["a", "b"], rows: [["1", "2"]] },
  });
});

// proves: finder-provide-categories
Deno.test("the workspace keeps only the categories that a page's URI asks for", async () => {
  await using workspace = await openWorkspace();
  const page = await readJson(workspace.client, `${REPORT}/pages/1?categories=table,pivot_table`);
  assertEquals(page["element_count"], 1);
});

// proves: mcp-error-not-found, mcp-validate-uris
Deno.test("the workspace refuses URIs that it does not serve", async () => {
  await using workspace = await openWorkspace();
  const codeOf = async (uri: string) =>
    (await assertRejects(() => read(workspace.client, uri), McpError)).code;
  assertEquals(await codeOf("file:///etc/passwd"), -32002);
  assertEquals(await codeOf(`dpe://${HOST}/..%2Fsecret`), 4201);
  assertEquals(await codeOf(`${REPORT}/pages/9`), 4202);
  assertEquals(await codeOf(`${REPORT}/elements/none`), 4203);
  assertEquals(await codeOf(`${REPORT}/pages/x`), 4204);
});

// proves: desktop-provide-list-changed, finder-provide-list-changed, mcp-list-changed
Deno.test("the workspace tells when a file comes", async () => {
  await using workspace = await openWorkspace();
  const told = workspace.next("notifications/resources/list_changed");
  await workspace.client.listTools();
  await Deno.writeTextFile(join(workspace.folder, "new.md"), "# New\n");
  await told;
  assertEquals((await readJson(workspace.client, `dpe://${HOST}`))["total_count"], 3);
});

// proves: desktop-provide-updated, finder-provide-updated, mcp-subscribe, mcp-updated
Deno.test("the workspace tells a subscriber which resource changed", async () => {
  await using workspace = await openWorkspace();
  await workspace.client.subscribeResource({ uri: REPORT });
  const told = workspace.next("notifications/resources/updated");
  await Deno.writeTextFile(join(workspace.folder, "report.md"), "\nMore.\n", { append: true });
  assertEquals(await told, { uri: REPORT });
});
