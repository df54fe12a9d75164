/** Serves documents to one client on standard input and output, as MCP servers are started by their hosts. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import process from "node:process";
import type { Logger } from "@a2c-smcp/sdk/base";
import { describeError } from "../basics.ts";
import type { FolderDocuments } from "../folder_documents.ts";
import { createServer } from "./server.ts";

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
