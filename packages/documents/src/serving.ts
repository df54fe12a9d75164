/** Serves documents to MCP clients: to one on standard input and output, or to any number over HTTP. */
import process from "node:process";
import { createMcpHandler, type HandlerResultTypeMap, Server } from "@modelcontextprotocol/server";
import { Entrance, type EntranceOptions, type HttpHandler } from "@a2c-smcp/sdk/program";
import type { OpenFolders } from "./folder_documents.ts";
import {
  errorResult,
  isOfOpenAi,
  type Logger,
  PACKAGE_VERSION,
  toSeenName,
  untilAborted,
} from "@a2c-smcp/sdk/base";
import { makeConnectorTools } from "./tools/connector_tools.ts";
import { type DocumentTool, makeDocumentTools } from "./tools/document_tools.ts";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { describeError } from "./basics.ts";

/** The documents, and whether clients get tools to read them. */
export interface ServedDocuments {
  readonly documents: OpenFolders;
  readonly hasTools: boolean;
}

/** Answers requests at `/mcp`. */
export function createDocumentsHandler(served: ServedDocuments, options: EntranceOptions): HttpHandler {
  const { logger } = options;
  const modern = createMcpHandler(() => createServer(served), {
    legacy: "reject",
    onerror: (error) => logger?.debug("a request of a client was not served", { error: error.message }),
  });
  served.documents.attach(modern);
  const path = { factory: () => createServer(served), modern };
  return new Entrance({
    names: "/mcp and /healthz",
    find: (name) => name === "/mcp" ? { path: name, open: () => path } : undefined,
    close: () => modern.close(),
  }, options);
}

const RESOURCES =
  "Documents of folders as dpe:// resources: read a document for its pages, a page for its elements, an element for its content.";
const TOOLS =
  "To answer a question from the documents, call find_documents with words that the text would have, then read_document for " +
  "what is around them.";

/** Makes an MCP server that offers the documents. */
function createServer({ documents, hasTools }: ServedDocuments): Server {
  const server = new Server({ name: "a2c-smcp-documents", title: "Documents", version: PACKAGE_VERSION }, {
    instructions: hasTools ? `${TOOLS} ${RESOURCES}` : RESOURCES,
    capabilities: hasTools ? { tools: {} } : {},
  });
  if (hasTools) serveTools(server, documents);
  documents.attach(server);
  return server;
}

function serveTools(server: Server, { toolPlace }: OpenFolders): void {
  const common = makeDocumentTools(toolPlace);
  const connectors = makeConnectorTools(toolPlace);
  const toolsOfClient = (): readonly DocumentTool[] =>
    isOfOpenAi(server.getClientVersion()?.name) ? [...common, ...connectors] : common;
  server.setRequestHandler("tools/list", () => {
    return {
      tools: toolsOfClient().map(({ definition }) => definition),
    } as HandlerResultTypeMap["tools/list"];
  });
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    const tool = [...common, ...connectors].find(({ definition }) => definition.name === name);
    const { signal } = mcpReq;
    const result = tool === undefined
      ? errorResult(
        `No tool named ${toSeenName(name)}. Tools: ${
          common.map(({ definition }) => definition.name).join(", ")
        }`,
      )
      : await tool.run(args, { signal });
    return server.projectCallToolResult(
      result as Parameters<Server["projectCallToolResult"]>[0],
      tool?.definition.outputSchema,
    );
  });
}

/**
 * Serves one client of either era of MCP, until it has closed standard input or does not read any more, or the signal is
 * aborted. Nothing else may write to standard output.
 */
export async function serveDocumentsOnStdio(
  served: ServedDocuments,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = new StdioServerTransport(process.stdin, process.stdout);
  const handle = serveStdio(() => createServer(served), {
    transport,
    onerror: (error) =>
      logger.warn("a message of the client was not served", { error: describeError(error) }),
  });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve();
  };
  await Promise.race([closed, untilAborted(signal)]);
  await handle.close();
}
