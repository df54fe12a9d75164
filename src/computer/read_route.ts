/** Which MCP server a read goes to. */
import type { Fleet } from "../mcp/fleet.ts";
import type { SupervisedServer } from "../mcp/supervised_server.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { badRequest, describeError, SmcpError } from "../protocol/errors.ts";
import { timeoutMsOf } from "../protocol/timeouts.ts";
import { type DpeUri, parseDpeUri } from "../uri/dpe_uri.ts";
import { hasDpeScheme, hasWindowScheme } from "../uri/scheme.ts";
import { windowIdentity } from "../uri/window_identity.ts";
import { parseWindowUri } from "../uri/window_uri.ts";
import { absentServersHint } from "./absent_servers.ts";
import type { ResourceDirectory } from "./resource_directory.ts";
import { documentKey } from "./resource_kinds.ts";

/** Where a read goes, and under which spelling of the URI. */
export interface ReadRoute {
  readonly server: SupervisedServer;
  readonly uri: string;
  /** The parts of a `dpe://` URI. */
  readonly dpe: DpeUri | undefined;
  /** Whether the server lists the document that the URI belongs to. */
  readonly isKnownDocument: boolean;
  /** How many pages that document has, if that is known. */
  readonly pageCount: number | undefined;
}

/** Where to look for servers. */
export interface RouteContext {
  readonly fleet: Fleet;
  readonly directory: ResourceDirectory;
}

/**
 * Finds the server of a read: the named one, else the one that owns the URI's host.
 *
 * @throws {SmcpError} 4204, 4201, 4014, 4015, 404 or 400 (`design.md`, client:read_resource).
 */
export async function routeRead(
  request: {
    readonly uri: string;
    readonly mcp_server?: string | undefined;
    readonly timeout?: number | undefined;
  },
  context: RouteContext,
): Promise<ReadRoute> {
  const { uri, mcp_server } = request;
  const dpe = hasDpeScheme(uri) ? parseDpeUri(uri) : undefined;
  const window = hasWindowScheme(uri) ? parseWindow(uri) : undefined;
  const host = dpe?.host ?? window?.host;
  if (mcp_server === undefined && host === undefined) {
    throw badRequest(
      "uri",
      `Cannot read "${uri}": name its server in "mcp_server", only dpe:// and window:// have hosts`,
    );
  }
  const server = mcp_server === undefined
    ? await ownerOf(host ?? "", { uri, dpe, timeoutMs: timeoutMsOf(request) }, context)
    : namedServer(mcp_server, context.fleet);
  const catalogue = context.directory.of(server);
  const key = dpe === undefined ? "" : documentKey(uri) ?? "";
  return {
    server,
    dpe,
    uri: window === undefined ? uri : catalogue.listedWindow(windowIdentity(uri) ?? uri) ?? uri,
    isKnownDocument: catalogue.hasDocument(key),
    pageCount: catalogue.pageCount(key),
  };
}

/**
 * The server of that name.
 *
 * @throws {SmcpError} 4014 when there is none, 4015 when it runs and has no resources.
 */
export function namedServer(name: string, fleet: Fleet): SupervisedServer {
  const server = fleet.get(name);
  if (server === undefined) {
    throw new SmcpError(
      ErrorCode.MCP_SERVER_NOT_FOUND,
      `MCP server "${name}" does not exist on this Computer`,
      {
        details: { mcp_server: name },
      },
    );
  }
  if (server.connection?.capabilities.resources === false) {
    throw new SmcpError(ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED, `MCP server "${name}" has no resources`, {
      details: { mcp_server: name, capability: "resources" },
    });
  }
  return server;
}

async function ownerOf(
  host: string,
  request: { readonly uri: string; readonly dpe: DpeUri | undefined; readonly timeoutMs: number },
  { directory, fleet }: RouteContext,
): Promise<SupervisedServer> {
  const { uri, dpe } = request;
  const owner = await directory.ownerOf(host, request);
  if (owner !== undefined) return owner.server;
  const hint = absentServersHint(fleet);
  throw dpe === undefined
    ? new SmcpError(ErrorCode.NOT_FOUND, `No MCP server has the host "${host}"${hint}`, { details: { uri } })
    : new SmcpError(
      ErrorCode.DOCUMENT_NOT_FOUND,
      `Document not found: no MCP server has the host "${host}"${hint}`,
      {
        details: dpe.docRef === undefined ? { uri } : { uri, doc_ref: dpe.docRef },
      },
    );
}

function parseWindow(uri: string): { readonly host: string } {
  try {
    return parseWindowUri(uri);
  } catch (error) {
    throw badRequest("uri", describeError(error));
  }
}
