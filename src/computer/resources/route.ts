/** Finds the MCP server that a read goes to: the named server, the one that lists the URI, or the owner of its host. */
import type { ServerCapabilities } from "../../mcp/connection.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import { didYouMean, unknownName } from "../../text/spelling.ts";
import { shorten } from "../../text/text.ts";
import { hasDpeScheme } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { absentServersHint } from "../shared/failures.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import type { ResourceUri } from "./resource_uri.ts";
import type { KnownResource, ServerResources } from "./server_resources.ts";

/** A capability that a request needs, by its name on the wire. */
export type NeededCapability = "resources" | "resources.subscribe" | "prompts" | "completions";

const NEEDED_CAPABILITIES: Readonly<Record<NeededCapability, (has: ServerCapabilities) => boolean>> = {
  "resources": ({ resources }) => resources,
  "resources.subscribe": ({ resources, subscribe }) => resources && subscribe,
  "prompts": ({ prompts }) => prompts,
  "completions": ({ completions }) => completions,
};

/** The host of a URI template, unless it is a parameter. */
const TEMPLATE_HOST = /^[a-z]+:\/\/([^/?#{}]+)(?=[/?#]|$|\{[/?&#])/i;

/** At most this many contested hosts are named in one round of warnings. */
const MAX_NAMED_HOSTS = 20;

/** How much of an unknown `doc_ref` an error repeats, in characters. */
const MAX_DOC_REF_LENGTH = 128;

/** The server that a resource is read from, and what that server's list says about it. */
export interface FoundResource extends KnownResource {
  readonly server: SupervisedServer;
}

export interface FindOptions {
  readonly mcpServer: string | undefined;
  /** How long a server may take to list its resources when a host is looked for, in milliseconds. */
  readonly timeoutMs: number;
}

interface WantedHost {
  readonly host: string;
  readonly uri: string;
  readonly isDpe: boolean;
  readonly docRef?: string | undefined;
  readonly timeoutMs: number;
}

export interface ResourceRoutesContext extends Pick<SharedParts, "fleet" | "writtenNameOf" | "log"> {
  readonly getServerResources: (server: SupervisedServer) => ServerResources;
}

/** The claimants of each host, in order of precedence: the first of them owns it. */
type Claims = ReadonlyMap<string, readonly ServerResources[]>;

export class ResourceRoutes {
  readonly #context: ResourceRoutesContext;
  /** The claims of servers that announce `resources.subscribe`; the others claim nothing. */
  #claims: Claims = new Map();

  constructor(context: ResourceRoutesContext) {
    this.#context = context;
  }

  /**
   * Finds the server of a URI. What the owner of a host does not list is read from the first server that lists it
   * (`docs/protocol/resources.md#host-ownership`).
   *
   * @throws {SmcpError} 4201 or 404 when no server has the host; 4014 or 4015 as {@linkcode ResourceRoutes.findServer} throws;
   *   400 when no server is named and the URI is neither `dpe://` nor `window://`.
   */
  async find(uri: ResourceUri, options: FindOptions): Promise<FoundResource> {
    const { mcpServer, timeoutMs } = options;
    const resources = mcpServer === undefined
      ? await this.#listerOf(uri, timeoutMs)
      : this.#context.getServerResources(this.findServer(mcpServer));
    return { server: resources.server, ...resources.find(uri) };
  }

  /**
   * Finds the server of a URI template, and checks, if the server runs, that it supports completions.
   *
   * @throws {SmcpError} as {@linkcode ResourceRoutes.find} does; 400 also when the host of the template is a parameter.
   */
  async findTemplate(uri: string, { mcpServer, timeoutMs }: FindOptions): Promise<SupervisedServer> {
    if (mcpServer !== undefined) return this.findServer(mcpServer, "completions");
    const host = hasDpeScheme(uri) || hasWindowScheme(uri) ? TEMPLATE_HOST.exec(uri)?.[1] : undefined;
    if (host === undefined) {
      const message =
        `Cannot complete "${uri}": only a dpe:// or window:// template with a fixed host identifies its ` +
        `server; name the server in "mcp_server"`;
      throw badRequest("ref.uri", message);
    }
    const wanted = { host: host.toLowerCase(), uri, isDpe: hasDpeScheme(uri), timeoutMs };
    return withCapability((await this.#hostOwner(wanted)).server, "completions");
  }

  /**
   * Finds a server by its name.
   *
   * @throws {SmcpError} 4014 when no server has the name, 4015 when the server runs without the capability.
   */
  findServer(name: string, capability: NeededCapability = "resources"): SupervisedServer {
    return withCapability(this.serverNamed(name), capability);
  }

  /**
   * Finds a server by its name in the office or in the configuration, whatever its capabilities.
   *
   * @throws {SmcpError} 4014 when no server has the name.
   */
  serverNamed(name: string): SupervisedServer {
    const { fleet, writtenNameOf } = this.#context;
    const server = fleet.get(name) ?? fleet.servers.find((each) => writtenNameOf(each.name) === name);
    if (server !== undefined) return server;
    const known = fleet.servers.map((each) => each.name);
    const message = `${unknownName("MCP server", name, known)} on this Computer`;
    throw new SmcpError(ErrorCode.MCP_SERVER_NOT_FOUND, message, { details: { mcp_server: name } });
  }

  /**
   * Reads again which server claims which host. Logs a host when several servers claim it for the first time, or when
   * its claimants change: what several of them list is read only from the first (`docs/protocol/resources.md#host-ownership`).
   */
  update(): void {
    const before = this.#claims;
    this.#claims = this.#readClaims();
    const fresh = [...this.#claims].filter(([host, claimants]) =>
      claimants.length > 1 && !isSame(claimants, before.get(host) ?? [])
    );
    const { log } = this.#context;
    for (const [host, claimants] of fresh.slice(0, MAX_NAMED_HOSTS)) {
      const servers = claimants.map(({ server }) => server.name);
      const [owner] = servers;
      const message =
        "several MCP servers claim one host; reads of what the first does not list go to the others";
      log.warn(message, { host, owner, servers });
    }
    if (fresh.length > MAX_NAMED_HOSTS) {
      log.warn("further hosts are claimed by several MCP servers", { count: fresh.length - MAX_NAMED_HOSTS });
    }
  }

  async #listerOf(uri: ResourceUri, timeoutMs: number): Promise<ServerResources> {
    const owner = await this.#ownerOf(uri, timeoutMs);
    const lists = (resources: ServerResources) => resources.find(uri).isListed;
    if (lists(owner)) return owner;
    const claimants = this.#ordered().filter(({ hosts }) => hosts.has(uri.host ?? ""));
    if (claimants.length > 1) await Promise.all(claimants.map((each) => each.refreshList(timeoutMs)));
    return lists(owner) ? owner : claimants.find(lists) ?? owner;
  }

  async #ownerOf(uri: ResourceUri, timeoutMs: number): Promise<ServerResources> {
    if (uri.kind === "other") {
      const message = `Cannot read "${uri.raw}": only dpe:// and window:// URIs identify their server; ` +
        `name the server in "mcp_server"`;
      throw badRequest("uri", message);
    }
    const isDpe = uri.kind === "dpe";
    const docRef = isDpe ? uri.dpe.docRef : undefined;
    return await this.#hostOwner({ host: uri.host, uri: uri.raw, isDpe, docRef, timeoutMs });
  }

  /**
   * The server that owns a host: the first server, in order of precedence, that has listed the host since the server was
   * configured. Servers without subscriptions are asked for their lists only when no other server has the host
   * (`docs/protocol/desktop.md#required-capability`).
   */
  async #hostOwner(wanted: WantedHost): Promise<ServerResources> {
    const { host, timeoutMs } = wanted;
    const known = this.#claims.get(host)?.[0];
    if (known !== undefined) return known;
    const { shown = [], others = [] } = Object.groupBy(
      this.#ordered(),
      ({ isSubscribable }) => isSubscribable ? "shown" : "others",
    );
    // The host may be in a list that was not requested yet, or that changed without a notification.
    await Promise.all(shown.map((resources) => resources.refreshList(timeoutMs)));
    const owner = this.#claims.get(host)?.[0];
    if (owner !== undefined) return owner;
    const find = () => others.find(({ hosts }) => hosts.has(host));
    const other = find();
    if (other !== undefined) return other;
    await Promise.all(others.map((resources) => resources.refreshList(timeoutMs)));
    const found = find();
    if (found !== undefined) return found;
    throw this.#hostNotFound(wanted);
  }

  #hostNotFound({ host, uri, isDpe, docRef }: WantedHost): SmcpError {
    const known = new Set(this.#ordered().flatMap(({ hosts }) => [...hosts]));
    const hint = `${didYouMean(host, known)}${absentServersHint(this.#context.fleet)}`;
    const reason = `no MCP server has the host "${host}"${hint}`;
    if (!isDpe) {
      return new SmcpError(ErrorCode.NOT_FOUND, `Resource not found: ${reason}`, { details: { uri } });
    }
    const details = docRef === undefined ? { uri } : { uri, doc_ref: docRef };
    const document = docRef === undefined ? "Document" : `Document "${shorten(docRef, MAX_DOC_REF_LENGTH)}"`;
    return new SmcpError(ErrorCode.DOCUMENT_NOT_FOUND, `${document} not found: ${reason}`, { details });
  }

  #readClaims(): Claims {
    const claims = new Map<string, ServerResources[]>();
    for (const resources of this.#ordered()) {
      if (!resources.isSubscribable) continue;
      for (const host of resources.hosts) {
        const others = claims.get(host);
        if (others === undefined) claims.set(host, [resources]);
        else others.push(resources);
      }
    }
    return claims;
  }

  #ordered(): ServerResources[] {
    const { fleet, getServerResources } = this.#context;
    return fleet.servers.map(getServerResources);
  }
}

/**
 * Returns the server. A server that is not running is not checked.
 *
 * @throws {SmcpError} 4015 when the server runs without the capability.
 */
export function withCapability(server: SupervisedServer, capability: NeededCapability): SupervisedServer {
  const { name: mcp_server, connection } = server;
  if (connection === undefined || NEEDED_CAPABILITIES[capability](connection.capabilities)) return server;
  const message = `MCP server "${mcp_server}" does not support ${capability}`;
  throw new SmcpError(ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED, message, {
    details: { mcp_server, capability },
  });
}

function isSame(one: readonly ServerResources[], other: readonly ServerResources[]): boolean {
  return one.length === other.length && one.every((resources, index) => resources === other[index]);
}
