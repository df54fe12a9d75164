/** URIs under which clients read the resources of all Computers: one URI, one resource. */
import { hasDpeScheme } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";

/** The most owners that are remembered; then the oldest are forgotten. */
const MAX_OWNERS = 20_000;
/** The beginning of a URI that names its Computer. */
const A2C = "a2c://";
/** The same for the page of an MCP App, which clients know by its scheme alone. */
const UI = "ui://";
const A2C_UI = `${UI}a2c/`;

/** Whose resource it is. */
export interface ResourcePlace {
  readonly computer: string;
  /** The MCP server; not needed where the host of a URI names it. */
  readonly mcpServer: string | undefined;
}

/** A resource on its Computer. */
export interface ResourceAddress extends ResourcePlace {
  /** The URI on the Computer. */
  readonly uri: string;
}

/**
 * Translates URIs. A resource keeps its URI while only one place has its scheme and host, and keeps it when others come
 * later: these are named `a2c://{computer}/{uri}`, or `a2c://{computer}/{MCP server}/{uri}` where the host does not tell
 * the MCP server. Places that come at the same time with the same host are all named so.
 */
export class ResourceUris {
  /** Who has the plain URIs of a scheme and host. `null`: nobody, because several came at once. */
  readonly #owners = new Map<string, string | null>();
  readonly #places = new Map<string, ResourcePlace>();

  /** Settles who has which plain URIs, for resources that are listed at the same time, in any order. */
  claim(resources: readonly ResourceAddress[]): void {
    const claims = new Map<string, Map<string, ResourcePlace>>();
    for (const resource of resources) {
      const authority = authorityOf(resource.uri);
      if (this.#owners.has(authority)) continue;
      const claimants = claims.get(authority) ?? new Map();
      claims.set(authority, claimants.set(keyOf(resource), resource));
    }
    for (const [authority, claimants] of claims) {
      const [[key, place] = []] = claimants;
      if (claimants.size === 1 && key !== undefined && place !== undefined) this.#own(authority, key, place);
      else this.#own(authority, null);
    }
  }

  /** The URI for clients. A scheme and host that nobody has yet goes to this place. */
  toClient(uri: string, place: ResourcePlace): string {
    this.claim([{ ...place, uri }]);
    if (this.#owners.get(authorityOf(uri)) === keyOf({ ...place, uri })) return uri;
    const segments = hasOwnHost(uri) ? [place.computer] : [place.computer, place.mcpServer ?? ""];
    const path = segments.map(encodeURIComponent).join("/");
    return uri.startsWith(UI) ? `${A2C_UI}${path}/${uri.slice(UI.length)}` : `${A2C}${path}/${uri}`;
  }

  /** Where a client's URI leads; `undefined` for a plain URI that nobody has. */
  toAddress(clientUri: string): ResourceAddress | undefined {
    if (clientUri.startsWith(A2C_UI)) return readPath(clientUri.slice(A2C_UI.length), UI);
    if (clientUri.startsWith(A2C)) return readPath(clientUri.slice(A2C.length), "");
    const owner = this.#owners.get(authorityOf(clientUri));
    const place = owner === undefined || owner === null ? undefined : this.#places.get(owner);
    return place &&
      { ...place, mcpServer: hasOwnHost(clientUri) ? undefined : place.mcpServer, uri: clientUri };
  }

  #own(authority: string, key: string | null, place?: ResourcePlace): void {
    this.#owners.set(authority, key);
    if (key !== null && place !== undefined) {
      this.#places.set(key, { computer: place.computer, mcpServer: place.mcpServer });
    }
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > MAX_OWNERS && oldest !== undefined) this.#owners.delete(oldest);
  }
}

/** Whether a Computer finds the MCP server by the host of the URI. */
export function hasOwnHost(uri: string): boolean {
  return hasDpeScheme(uri) || hasWindowScheme(uri);
}

/** Scheme and host; the scheme alone without `//`. A template counts as the URIs that it makes. */
function authorityOf(uri: string): string {
  return (/^[^:]*:(?:\/\/[^/?#{]*)?/.exec(uri)?.[0] ?? "").toLowerCase();
}

/** The name of a place among those that can have one scheme and host. */
function keyOf({ computer, mcpServer, uri }: ResourceAddress): string {
  return JSON.stringify(hasOwnHost(uri) ? [computer] : [computer, mcpServer]);
}

function readPath(path: string, scheme: string): ResourceAddress | undefined {
  const [, first = "", rest = ""] = /^([^/]*)\/(.*)$/s.exec(path) ?? [];
  const computer = decode(first);
  if (computer === undefined || rest === "") return undefined;
  if (scheme === "" && hasOwnHost(rest)) return { computer, mcpServer: undefined, uri: rest };
  const [, second = "", uri = ""] = /^([^/]*)\/(.*)$/s.exec(rest) ?? [];
  const mcpServer = decode(second);
  return mcpServer === undefined || uri === "" ? undefined : { computer, mcpServer, uri: `${scheme}${uri}` };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
