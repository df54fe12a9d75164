/** Serves documents over Streamable HTTP, to any number of clients of both eras of MCP. */
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import {
  type AdmittedRequest,
  Entrance,
  type EntranceOptions,
  type HttpHandler,
  Sessions,
} from "@a2c-smcp/sdk/program";
import type { FolderDocuments } from "../folder_documents.ts";
import { createServer } from "./server.ts";

/** Answers requests at `/mcp`. A client of 2025 has a session, one of 2026 a server for each request. */
export function createDocumentsHandler(
  documents: FolderDocuments,
  options: EntranceOptions,
): HttpHandler {
  const { logger } = options;
  const sessions = new Sessions();
  const factory = () => createServer(documents).server;
  const modern = createMcpHandler(() => createServer(documents), {
    legacy: "reject",
    onerror: (error) => logger?.debug("a request of a client was not served", { error: error.message }),
  });
  documents.attach(modern);
  const serve = async (admitted: AdmittedRequest) => {
    const { request, body } = admitted;
    return await isLegacyRequest(request, body)
      ? await sessions.fetch(admitted, factory)
      : await modern.fetch(request, { parsedBody: body });
  };
  const find = (pathname: string) => pathname === "/mcp" ? serve : undefined;
  const entrance = new Entrance({ names: "/mcp and /healthz", find }, options);
  const close = async () => void await Promise.all([sessions.close(), modern.close()]);
  return { fetch: (request) => entrance.fetch(request), close, [Symbol.asyncDispose]: close };
}
