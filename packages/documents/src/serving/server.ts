/** The MCP server of documents, as one client sees it. */
import { McpServer } from "@modelcontextprotocol/server";
import { PACKAGE_VERSION } from "@a2c-smcp/sdk/base";
import type { FolderDocuments } from "../folder_documents.ts";

const INSTRUCTIONS =
  "Documents of folders as dpe:// resources: read a document for its pages, a page for its elements, an element for its content.";

/** Makes an MCP server that offers the documents. */
export function createServer(documents: FolderDocuments): McpServer {
  const server = new McpServer({ name: "a2c-smcp-documents", title: "Documents", version: PACKAGE_VERSION }, {
    instructions: INSTRUCTIONS,
  });
  documents.attach(server);
  return server;
}
