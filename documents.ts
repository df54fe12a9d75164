/**
 * An MCP server that makes the files of folders documents: PDF files, workbooks, presentations, texts and more, which an
 * Agent reads page by page and element by element. Files are read in processes without permissions.
 *
 * ```sh
 * deno run --ignore-env --allow-read=$HOME/Reports --allow-run documents.ts $HOME/Reports
 * ```
 *
 * With `--http PORT` it serves any number of clients over HTTP. A Computer starts it by itself for an entry `{ "type": "documents", "folders": ["~/Reports"] }` of its configuration.
 * The library publishes the same documents on an MCP server of yours:
 *
 * ```ts
 * import { type FolderDocuments, openFolderDocuments } from "@a2c-smcp/sdk/documents";
 * import { McpServer } from "@modelcontextprotocol/server";
 *
 * export async function serve(server: McpServer): Promise<FolderDocuments> {
 *   const documents = await openFolderDocuments({ folders: ["reports"] });
 *   documents.attach(server);
 *   return documents; // close() it, or declare it with `await using`
 * }
 * ```
 *
 * @module
 */
export {
  type DocumentsProgress,
  type FolderDocuments,
  type FolderDocumentsOptions,
  openFolderDocuments,
} from "./src/documents/folder_documents.ts";
export type { FileRules } from "./src/documents/folder/rules.ts";

if (import.meta.main) {
  const { runDocumentsCli } = await import("./src/cli/documents/main.ts");
  Deno.exit(await runDocumentsCli(Deno.args));
}
