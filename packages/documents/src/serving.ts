/** Serves documents to MCP clients: to one on standard input and output, or to any number over HTTP. */
import process from "node:process";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { Entrance, type EntranceOptions, type HttpHandler } from "@a2c-smcp/sdk/program";
import type { FolderDocuments } from "./folder_documents.ts";
import { type Logger, PACKAGE_VERSION } from "@a2c-smcp/sdk/base";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { describeError } from "./basics.ts";

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
  const served = { factory: () => createServer(documents).server, modern };
  return new Entrance({
    names: "/mcp and /healthz",
    find: (path) => path === "/mcp" ? { path, open: () => served } : undefined,
    close: () => modern.close(),
  }, options);
}

const INSTRUCTIONS =
  "Documents of folders as dpe:// resources: read a document for its pages, a page for its elements, an element for its content.";

/** Makes an MCP server that offers the documents. */
function createServer(documents: FolderDocuments): McpServer {
  const server = new McpServer({ name: "a2c-smcp-documents", title: "Documents", version: PACKAGE_VERSION }, {
    instructions: INSTRUCTIONS,
  });
  documents.attach(server);
  return server;
}

/** A client that is being served. */
export interface StdioService {
  /** Resolves when the client has closed standard input, or does not read any more. */
  readonly closed: Promise<void>;
  /** Ends the service. */
  close(): Promise<void>;
}

/** Serves one client of either era of MCP. Nothing else may write to standard output. */
export function serveDocumentsOnStdio(documents: FolderDocuments, logger: Logger): StdioService {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = new StdioServerTransport(process.stdin, process.stdout);
  const handle = serveStdio(() => createServer(documents), {
    transport,
    onerror: (error) =>
      logger.warn("a message of the client was not served", { error: describeError(error) }),
  });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve();
  };
  return { closed, close: () => handle.close() };
}
