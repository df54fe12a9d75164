/**
 * An MCP server that makes the files of folders documents: PDF files, workbooks, presentations, texts and more, which an
 * Agent reads page by page and element by element. Files are read in processes without permissions.
 *
 * As a program it is `@a2c-smcp/documents/main`. The library publishes the same documents on an MCP server of yours:
 *
 * ```ts
 * import { type FolderDocuments, openFolderDocuments } from "@a2c-smcp/documents";
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
} from "./src/folder_documents.ts";
export type { FileRules } from "./src/folder/rules.ts";
export type { SearchHit, SearchOptions, SearchResult } from "./src/search/search.ts";
