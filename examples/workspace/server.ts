/**
 * An MCP server for a folder: Markdown and CSV files are `dpe://` documents, and two `window://` windows show its state.
 * All follow changes of the files. Serves MCP on stdio:
 *
 * ```sh
 * deno run --allow-read examples/workspace/server.ts examples/documents
 * ```
 */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/stdio"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import process from "node:process";
import { z } from "zod";
import { provide } from "../../src/provider/mod.ts";
import { Library } from "./library.ts";
import { watchFolder } from "./watch.ts";

const HOST = "com.example.workspace";
/** The most changes in the activity window. */
const MAX_ACTIVITY = 20;

const [folder] = Deno.args;
if (folder === undefined) {
  console.error("usage: server.ts FOLDER");
  Deno.exit(2);
}
const library = new Library(await Deno.realPath(folder), HOST);
const activity: string[] = [];

const server = new McpServer({ name: "workspace", version: "1.0.0" });
server.registerTool("count_words", {
  description: "Counts the words of a document of the workspace.",
  inputSchema: { document: z.string().describe("The file's name") },
  annotations: { readOnlyHint: true },
}, async ({ document }) => {
  const file = (await library.list()).find(({ docRef }) => docRef === document);
  if (file === undefined) return { content: [{ type: "text", text: "No such document" }], isError: true };
  const words = (await Deno.readTextFile(file.path)).split(/\s+/).filter((word) => word !== "").length;
  return { content: [{ type: "text", text: `${file.docRef} has ${words} words` }] };
});

const provider = provide(server);
const documents = provider.publishDocuments(library);
const windows = [
  provider.publishWindow({ host: HOST, path: ["overview"], name: "Overview", priority: 0.8, read: overview }),
  provider.publishWindow({
    host: HOST,
    path: ["activity"],
    name: "Activity",
    priority: 0.4,
    read: () => activity.length === 0 ? "Nothing has changed yet." : activity.join("\n"),
  }),
];

// A closed stdin means that the client has ended. The watcher would keep the process alive.
process.stdin.once("end", () => Deno.exit(0));
const changes = await watchFolder(library);
await server.connect(new StdioServerTransport());
for await (const { changed, isListChanged } of changes) {
  for (const { docRef, how } of changed) activity.unshift(`${new Date().toISOString()} ${docRef} ${how}`);
  activity.length = Math.min(activity.length, MAX_ACTIVITY);
  if (isListChanged) documents.listChanged();
  for (const { docRef } of changed) documents.changed(docRef);
  for (const window of windows) window.update();
}

async function overview(): Promise<string> {
  const files = await library.list();
  const newest = files.toSorted((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime())[0];
  const lines = files.map(({ docRef, modifiedAt }) => `- ${docRef} (changed ${modifiedAt.toISOString()})`);
  return [`${files.length} documents, the newest is ${newest?.docRef ?? "none"}:`, ...lines].join("\n");
}
