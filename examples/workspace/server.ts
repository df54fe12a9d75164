/**
 * An MCP server over a folder: its Markdown and CSV files as `dpe://` documents, its state as two `window://` windows,
 * all of it live. Speaks MCP on stdio:
 *
 * ```sh
 * deno run --allow-read examples/workspace/server.ts examples/documents
 * ```
 */
import { Server } from "@modelcontextprotocol/sdk/server";
// @ts-types="@modelcontextprotocol/sdk/server/stdio"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Resource,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import process from "node:process";
import { Library } from "./library.ts";
import { NotFound, readDocument } from "./read_document.ts";
import { watchFolder } from "./watch.ts";

const HOST = "com.example.workspace";
const OVERVIEW = `window://${HOST}/overview`;
const ACTIVITY = `window://${HOST}/activity`;
/** MCP's code for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002;
/** How many changes the activity window remembers. */
const MAX_ACTIVITY = 20;

const [folder] = Deno.args;
if (folder === undefined) {
  console.error("usage: server.ts FOLDER");
  Deno.exit(2);
}
const library = new Library(await Deno.realPath(folder), HOST);
const activity: string[] = [];
const subscribed = new Set<string>();

const server = new Server({ name: "workspace", version: "1.0.0" }, {
  capabilities: { resources: { subscribe: true, listChanged: true }, tools: {} },
});

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{
    name: "count_words",
    description: "Counts the words of a document of the workspace.",
    inputSchema: {
      type: "object",
      properties: { document: { type: "string", description: "The file's name" } },
      required: ["document"],
    },
    annotations: { readOnlyHint: true },
  }],
}));

server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const file = (await library.files()).find(({ docRef }) => docRef === params.arguments?.["document"]);
  if (file === undefined) return { content: [{ type: "text", text: "No such document" }], isError: true };
  const words = (await Deno.readTextFile(file.path)).split(/\s+/).filter((word) => word !== "").length;
  return { content: [{ type: "text", text: `${file.docRef} has ${words} words` }] };
});

server.setRequestHandler(ListResourcesRequestSchema, async () => {
  const windows: Resource[] = [
    window(OVERVIEW, { name: "Overview", priority: 0.8 }),
    window(ACTIVITY, { name: "Activity", priority: 0.4 }),
  ];
  const documents = (await library.files()).map(({ docRef }) => ({
    uri: library.uri(docRef),
    name: docRef,
    mimeType: "application/json",
  }));
  return { resources: [...windows, ...documents] };
});

server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [
    { name: "Page of a document", uriTemplate: `dpe://${HOST}/{doc_ref}/pages/{page_index}` },
    { name: "Element of a document", uriTemplate: `dpe://${HOST}/{doc_ref}/elements/{element_id}` },
  ],
}));

server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
  if (uri === OVERVIEW) return text(uri, await overview());
  if (uri === ACTIVITY) {
    return text(uri, activity.length === 0 ? "Nothing has changed yet." : activity.join("\n"));
  }
  if (!uri.startsWith(`dpe://${HOST}`)) throw new McpError(RESOURCE_NOT_FOUND, "Resource not found", { uri });
  try {
    const json = JSON.stringify(await readDocument(library, uri));
    return { contents: [{ uri, mimeType: "application/json", text: json }] };
  } catch (error) {
    if (error instanceof NotFound) throw new McpError(error.code, error.message, error.details);
    throw error;
  }
});

server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
  subscribed.add(params.uri);
  return {};
});
server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
  subscribed.delete(params.uri);
  return {};
});

// Whoever closes our stdin is done with us; the SDK would go on for as long as the folder is watched.
process.stdin.once("end", () => Deno.exit(0));
const changes = await watchFolder(library);
await server.connect(new StdioServerTransport());
for await (const { changed, isListChanged } of changes) {
  for (const { docRef, how } of changed) activity.unshift(`${new Date().toISOString()} ${docRef} ${how}`);
  activity.length = Math.min(activity.length, MAX_ACTIVITY);
  if (isListChanged) await server.sendResourceListChanged();
  for (const uri of [OVERVIEW, ACTIVITY, ...changed.map(({ docRef }) => library.uri(docRef))]) {
    if (subscribed.has(uri)) await server.sendResourceUpdated({ uri });
  }
}

function window(
  uri: string,
  { name, priority }: { readonly name: string; readonly priority: number },
): Resource {
  return { uri, name, mimeType: "text/plain", annotations: { priority, audience: ["assistant"] } };
}

function text(uri: string, body: string) {
  return { contents: [{ uri, mimeType: "text/plain", text: body }] };
}

async function overview(): Promise<string> {
  const files = await library.files();
  const newest = files.toSorted((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime())[0];
  const lines = files.map(({ docRef, modifiedAt }) => `- ${docRef} (changed ${modifiedAt.toISOString()})`);
  return [`${files.length} documents, the newest is ${newest?.docRef ?? "none"}:`, ...lines].join("\n");
}
