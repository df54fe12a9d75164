/** Reads and lists resources for the Agent: `client:read_resource` and `client:get_resources`. */
import { isRecord } from "../../json/json.ts";
import type { McpConnection } from "../../mcp/connection.ts";
import type {
  GetResourcesReq,
  GetResourcesRet,
  ReadResourceReq,
  ReadResourceRet,
  ResourceIcon,
  ResourceInfo,
} from "../../protocol/resources.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { type FailedRead, toReadError } from "../shared/failures.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { parseResourceUri } from "./resource_uri.ts";
import type { ResourceRoutes } from "./route.ts";

export type ReadRequest = Omit<ReadResourceReq, "agent" | "req_id" | "computer">;

export type ListRequest = Omit<GetResourcesReq, "agent" | "req_id" | "computer">;

/**
 * Reads a resource from the server that `routes` finds (`docs/protocol/resources.md#read-resource`), and adds the
 * rendering that the `format` of a `dpe://` URI requests.
 *
 * @throws {SmcpError} as `client:read_resource` is answered.
 */
export async function readResource(
  request: ReadRequest,
  context: { readonly routes: ResourceRoutes; readonly signal?: AbortSignal | undefined },
): Promise<ReadResourceRet> {
  const { routes, signal } = context;
  const timeoutMs = timeoutMsOf(request);
  const uri = parseResourceUri(request.uri);
  const { server, ...known } = await routes.find(uri, { mcpServer: request.mcp_server, timeoutMs });
  const dpe = uri.kind === "dpe" ? uri.dpe : undefined;
  const result = await ask(
    { server, dpe, uri: known.spelling, ...known },
    (connection) => connection.readResource(known.spelling, { timeoutMs, signal }),
  );
  if (dpe?.queryParams.format === undefined) return result;
  // Most reads need none of it.
  const { addRendering, withoutElements } = await import("./rendering.ts");
  return { ...result, contents: withoutElements(addRendering(result.contents, dpe), dpe) };
}

/** Lists one page of a server's `resources/list`, unfiltered (`docs/protocol/resources.md#get-resources`). */
export async function listResources(
  request: ListRequest,
  { routes }: { readonly routes: ResourceRoutes },
): Promise<Omit<GetResourcesRet, "req_id">> {
  const server = routes.findServer(request.mcp_server);
  const limits = { timeoutMs: timeoutMsOf(request) };
  const page = await ask(
    { server },
    (connection) => connection.listEntriesPage("resources", request.cursor, limits),
  );
  const resources = page.entries.map(toResourceInfo).filter((resource) => resource !== undefined);
  return page.nextCursor === undefined ? { resources } : { resources, next_cursor: page.nextCursor };
}

/** Sends a request to a server; its failure becomes the error that the Agent gets. */
export async function ask<T>(
  read: FailedRead & { readonly server: SupervisedServer },
  request: (connection: McpConnection) => Promise<T>,
): Promise<T> {
  try {
    return await read.server.use(request);
  } catch (error) {
    throw toReadError(error, read);
  }
}

/**
 * Translates an entry of `resources/list`: `mimeType` becomes `mime_type`, and members that are null or of a wrong type
 * are removed, because strict peers refuse them. Returns `undefined` for an entry without a URI.
 */
export function toResourceInfo(entry: unknown): ResourceInfo | undefined {
  if (!isRecord(entry) || typeof entry["uri"] !== "string") return undefined;
  const { uri, size } = entry;
  return { ...toResourceFields(entry), uri, ...(typeof size === "number" ? { size } : {}) };
}

/** Translates the members that entries of `resources/list` and `resources/templates/list` share; keeps all others. */
export function toResourceFields(entry: Readonly<Record<string, unknown>>): Omit<ResourceInfo, "uri"> & {
  readonly uri?: unknown;
} {
  const { name, title, description, mimeType, size: _size, icons, annotations, _meta, ...rest } = entry;
  return {
    ...rest,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof mimeType === "string" ? { mime_type: mimeType } : {}),
    ...(Array.isArray(icons) ? { icons: icons.filter(isIcon) } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}

export function isIcon(icon: unknown): icon is ResourceIcon {
  return isRecord(icon) && typeof icon["src"] === "string";
}
