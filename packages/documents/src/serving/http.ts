/** Serves documents over Streamable HTTP, to any number of clients of both eras of MCP. */
import { createMcpHandler } from "@modelcontextprotocol/server";
import { Entrance, type EntranceOptions, type HttpHandler } from "@a2c-smcp/sdk/program";
import type { FolderDocuments } from "../folder_documents.ts";
import { createServer } from "./server.ts";

/** Answers requests at `/mcp`. */
export function createDocumentsHandler(
  documents: FolderDocuments,
  options: EntranceOptions,
): HttpHandler {
  const { logger } = options;
  const modern = createMcpHandler(() => createServer(documents), {
    legacy: "reject",
    onerror: (error) => logger?.debug("a request of a client was not served", { error: error.message }),
  });
  documents.attach(modern);
  const path = { factory: () => createServer(documents).server, modern };
  return new Entrance({
    names: "/mcp and /healthz",
    find: (pathname) => pathname === "/mcp" ? () => path : undefined,
    close: () => modern.close(),
  }, options);
}
