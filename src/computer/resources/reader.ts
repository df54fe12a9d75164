/** The read bridge: an Agent's URI to the MCP server behind it, and the answer back (`docs/protocol/finder.md#reading-documents`). */
import type { McpConnection } from "../../mcp/connection.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import type {
  GetResourcesReq,
  GetResourcesRet,
  ReadResourceReq,
  ReadResourceRet,
} from "../../protocol/resources.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { toReadError } from "../failures.ts";
import { namedServer, type ReadRoute, type RouteContext, routeRead } from "./route.ts";
import { addRendering } from "./rendering.ts";
import { toResourceInfo } from "./info.ts";

/** `client:read_resource`: MCP's `ReadResourceResult`, with what the URI's `format` asks for filled in. */
export async function readResource(
  request: Omit<ReadResourceReq, "agent" | "req_id" | "computer">,
  context: RouteContext & { readonly signal?: AbortSignal | undefined },
): Promise<ReadResourceRet> {
  const route = await routeRead(request, context);
  const limits = { timeoutMs: timeoutMsOf(request), signal: context.signal };
  const result = await ask(route, (connection) => connection.readResource(route.uri, limits));
  if (route.dpe === undefined) return result;
  return { ...result, contents: addRendering(result.contents, route.dpe) };
}

/** `client:get_resources`: one page of `resources/list`, unfiltered. */
export async function listResources(
  request: GetResourcesReq,
  context: RouteContext,
): Promise<Omit<GetResourcesRet, "req_id">> {
  const server = namedServer(request.mcp_server, context);
  const limits = { timeoutMs: timeoutMsOf(request) };
  const page = await ask({ server }, (connection) => connection.listResourcesPage(request.cursor, limits));
  const resources = page.entries.map(toResourceInfo).filter((resource) => resource !== undefined);
  return page.nextCursor === undefined ? { resources } : { resources, next_cursor: page.nextCursor };
}

async function ask<T>(
  route: { readonly server: SupervisedServer } & Partial<ReadRoute>,
  request: (connection: McpConnection) => Promise<T>,
): Promise<T> {
  try {
    return await route.server.use(request);
  } catch (error) {
    throw toReadError(error, route);
  }
}
