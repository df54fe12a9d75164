/** Which MCP server a read goes to. */
import type { ServerCapabilities } from "../../mcp/connection.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import { describeError } from "../../text.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { type DpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { hasDpeScheme, hasWindowScheme } from "../../uri/scheme.ts";
import { windowIdentity } from "../../uri/window_identity.ts";
import { parseWindowUri } from "../../uri/window_uri.ts";
import { absentServersHint } from "../failures.ts";
import type { ResourceDirectory } from "./directory.ts";
import { documentKey } from "./kinds.ts";

/** What an MCP server may lack, by the names of the wire. */
const NEEDED_CAPABILITIES = {
  "resources": ({ resources }: ServerCapabilities) => resources,
  "resources.subscribe": ({ resources, subscribe }: ServerCapabilities) => resources && subscribe,
  "completions": ({ completions }: ServerCapabilities) => completions,
};

/** What is needed of an MCP server. */
export type NeededCapability = keyof typeof NEEDED_CAPABILITIES;

/** The host of a template; one that is a parameter is none. */
const TEMPLATE_HOST = /^[a-z]+:\/\/([^/?#{}]+)(?=[/?#]|$|\{[/?&#])/i;

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
 * @throws {SmcpError} 4204, 4201, 4014, 4015, 404 or 400.
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
    ? await ownerOf(host ?? "", {
      uri,
      isDpe: dpe !== undefined,
      docRef: dpe?.docRef,
      timeoutMs: timeoutMsOf(request),
    }, context)
    : namedServer(mcp_server, context);
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
 * Finds the server of a template: the named one, else the one that owns the host in it.
 *
 * @throws {SmcpError} 4014, 4015 with the capability `completions`, 4201, 404 or 400.
 */
export async function routeTemplate(
  request: {
    readonly ref: { readonly uri: string };
    readonly mcp_server?: string | undefined;
    readonly timeout?: number | undefined;
  },
  context: RouteContext,
): Promise<SupervisedServer> {
  const { ref: { uri }, mcp_server } = request;
  if (mcp_server !== undefined) return namedServer(mcp_server, context, "completions");
  const host = hasDpeScheme(uri) || hasWindowScheme(uri) ? TEMPLATE_HOST.exec(uri)?.[1] : undefined;
  if (host === undefined) {
    throw badRequest("ref.uri", `Cannot complete "${uri}": name its server in "mcp_server", it has no host`);
  }
  const timeoutMs = timeoutMsOf(request);
  const server = await ownerOf(host.toLowerCase(), { uri, isDpe: hasDpeScheme(uri), timeoutMs }, context);
  return withCapability(server, "completions");
}

/**
 * The server of that name.
 *
 * @throws {SmcpError} 4014 when there is none, 4015 when it runs and has no such capability.
 */
export function namedServer(
  name: string,
  { fleet }: Pick<RouteContext, "fleet">,
  capability: NeededCapability = "resources",
): SupervisedServer {
  const server = fleet.get(name);
  if (server !== undefined) return withCapability(server, capability);
  throw new SmcpError(
    ErrorCode.MCP_SERVER_NOT_FOUND,
    `MCP server "${name}" does not exist on this Computer`,
    { details: { mcp_server: name } },
  );
}

/**
 * The server, unless it runs without that capability.
 *
 * @throws {SmcpError} 4015.
 */
export function withCapability(server: SupervisedServer, capability: NeededCapability): SupervisedServer {
  const { name: mcp_server, connection } = server;
  if (connection === undefined || NEEDED_CAPABILITIES[capability](connection.capabilities)) return server;
  const message = `MCP server "${mcp_server}" has no ${capability}`;
  throw new SmcpError(ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED, message, {
    details: { mcp_server, capability },
  });
}

async function ownerOf(
  host: string,
  request: {
    readonly uri: string;
    readonly isDpe: boolean;
    readonly docRef?: string | undefined;
    readonly timeoutMs: number;
  },
  { directory, fleet }: RouteContext,
): Promise<SupervisedServer> {
  const { uri, isDpe, docRef } = request;
  const owner = await directory.ownerOf(host, request);
  if (owner !== undefined) return owner.server;
  const hint = absentServersHint(fleet);
  throw isDpe
    ? new SmcpError(
      ErrorCode.DOCUMENT_NOT_FOUND,
      `Document not found: no MCP server has the host "${host}"${hint}`,
      { details: docRef === undefined ? { uri } : { uri, doc_ref: docRef } },
    )
    : new SmcpError(ErrorCode.NOT_FOUND, `No MCP server has the host "${host}"${hint}`, { details: { uri } });
}

function parseWindow(uri: string): { readonly host: string } {
  try {
    return parseWindowUri(uri);
  } catch (error) {
    throw badRequest("uri", describeError(error));
  }
}
