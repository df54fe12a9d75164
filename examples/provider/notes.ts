/**
 * Tools, a window and documents of one server: the window and the documents show what the tools change. An MCP server
 * on stdio. With `--check` it is also its own client, checks the answers and exits:
 *
 * ```sh
 * deno run -A examples/provider/notes.ts --check
 * ```
 */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { provide } from "../../src/provider/mod.ts";
import { CheckingClient, serveStdio } from "./_check.ts";

const HOST = "com.example.notes";

const notes = new Map<string, string>();
const server = new McpServer({ name: "notes", version: "1.0.0" });
const provider = provide(server);

const recent = provider.publishWindow({
  host: HOST,
  path: ["recent"],
  name: "Recent note",
  text: "No note yet.",
});
const documents = provider.publishDocuments({
  host: HOST,
  list: () => [...notes].map(([docRef, text]) => ({ docRef, fileType: "txt", summary: text.slice(0, 80) })),
  pages: (docRef) => {
    const paragraphs = notes.get(docRef)?.split("\n\n");
    return paragraphs?.map((text, index) => ({
      title: `Paragraph ${index + 1}`,
      elements: [{ category: "text", content: { text } }],
    }));
  },
});

server.registerTool("write_note", {
  description: "Creates or replaces a note.",
  inputSchema: { name: z.string(), text: z.string() },
}, ({ name, text }) => {
  const isNew = !notes.has(name);
  notes.set(name, text);
  recent.update(`${name}: ${text}`);
  if (isNew) documents.listChanged();
  else documents.changed(name);
  return { content: [{ type: "text", text: "Written" }] };
});

server.registerTool("delete_note", {
  description: "Deletes a note.",
  inputSchema: { name: z.string() },
}, ({ name }) => {
  if (notes.delete(name)) documents.listChanged();
  return { content: [{ type: "text", text: "Deleted" }] };
});

async function check(): Promise<void> {
  await using checking = await CheckingClient.beside(server);
  const { client } = checking;
  await client.subscribeResource({ uri: recent.uri });
  const updated = checking.next("notifications/resources/updated");
  const listChanged = checking.next("notifications/resources/list_changed");
  await client.callTool({ name: "write_note", arguments: { name: "today", text: "Buy milk\n\nCall Ada" } });
  assertEquals(await updated, { uri: recent.uri });
  await listChanged;
  assertEquals(await checking.text(recent.uri), "today: Buy milk\n\nCall Ada");
  const page = await checking.json(`${documents.uri("today")}/pages/1?format=text`);
  assertEquals(page["content_text"], "Call Ada");
  console.log("A tool wrote a note; the window and the document show it.");
}

if (import.meta.main) await (Deno.args.includes("--check") ? check() : serveStdio(server));
