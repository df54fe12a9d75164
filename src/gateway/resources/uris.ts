/** URIs under which clients read the resources of all Computers: one URI, one resource. */
import { hasDpeScheme } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";

/** The most schemes and hosts of one Computer whose plain URIs it may have, so that none pushes out the others. */
const MAX_OWNED = 2_000;
/** The most schemes and hosts that are remembered, and the most characters of each with its place. */
const MAX_KNOWN = 50_000;
const MAX_CHARACTERS = 1_024;
/** The beginning of a URI that names its Computer. */
const A2C = "a2c://";
/** The same for the page of an MCP App, which clients know by its scheme alone. */
const UI = "ui://";
const A2C_UI = `${UI}a2c/`;
/** The same for the files of skills, which {@linkcode OfficeSkills} reads. */
export const A2C_SKILL = "skill://a2c/";

export interface ResourcePlace {
  readonly computer: string;
  /** The MCP server; not needed where the host of a URI names it. */
  readonly mcpServer: string | undefined;
}

export interface ResourceAddress extends ResourcePlace {
  readonly uri: string;
}

/** Who has the plain URIs of a scheme and host. */
interface Owner {
  readonly key: string;
  readonly place: ResourcePlace;
}

/**
 * Translates URIs. A resource keeps its URI while only one place has its scheme and host, and keeps it when others come
 * later: these are named `a2c://{computer}/{uri}`, or `a2c://{computer}/{MCP server}/{uri}` where the host does not tell
 * the MCP server. Places that come at the same time with the same host are all named so.
 */
export class ResourceUris {
  /** Who has the plain URIs of a scheme and host. `null`: nobody, because several came at once. */
  readonly #owners = new Map<string, Owner | null>();
  readonly #owned = new Map<string, number>();

  /** Settles who has which plain URIs, for resources that are listed at the same time, in any order. */
  claim(resources: readonly ResourceAddress[]): void {
    const claims = new Map<string, Map<string, ResourcePlace>>();
    for (const resource of resources) {
      const authority = authorityOf(resource.uri);
      if (isReserved(resource.uri) || this.#owners.has(authority)) continue;
      const claimants = claims.get(authority) ?? new Map();
      claims.set(authority, claimants.set(keyOf(resource), resource));
    }
    for (const [authority, claimants] of claims) {
      const [[key, place] = []] = claimants;
      const isClear = claimants.size === 1 && key !== undefined && place !== undefined;
      this.#own(authority, {
        owner: isClear ? { key, place: { computer: place.computer, mcpServer: place.mcpServer } } : null,
        claimants: new Set([...claimants.values()].map(({ computer }) => computer)),
      });
    }
  }

  /** The URI for clients. A scheme and host that nobody has yet goes to this place. */
  toClient(uri: string, place: ResourcePlace): string {
    this.claim([{ ...place, uri }]);
    if (!isReserved(uri) && this.#owners.get(authorityOf(uri))?.key === keyOf({ ...place, uri })) return uri;
    const segments = hasOwnHost(uri) ? [place.computer] : [place.computer, place.mcpServer ?? ""];
    const path = segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join("/");
    return uri.startsWith(UI) ? `${A2C_UI}${path}/${uri.slice(UI.length)}` : `${A2C}${path}/${uri}`;
  }

  /** Where a client's URI leads; `undefined` for a plain URI that nobody has. */
  toAddress(clientUri: string): ResourceAddress | undefined {
    if (isReserved(clientUri)) return readReserved(clientUri);
    const place = this.#owners.get(authorityOf(clientUri))?.place;
    return place &&
      { ...place, mcpServer: hasOwnHost(clientUri) ? undefined : place.mcpServer, uri: clientUri };
  }

  /** Whether nobody has the plain URI, because several Computers have its scheme and host. */
  isShared(clientUri: string): boolean {
    return this.#owners.get(authorityOf(clientUri)) === null;
  }

  #own(
    authority: string,
    { owner, claimants }: { readonly owner: Owner | null; readonly claimants: ReadonlySet<string> },
  ): void {
    const characters = authority.length + (owner?.key.length ?? 0);
    if (this.#owners.size >= MAX_KNOWN || characters > MAX_CHARACTERS) return;
    const counts = [...claimants].map((computer) => [computer, this.#owned.get(computer) ?? 0] as const);
    if (counts.every(([, count]) => count >= MAX_OWNED)) return;
    for (const [computer, count] of counts) this.#owned.set(computer, count + 1);
    this.#owners.set(authority, owner);
  }
}

/** Whether a Computer finds the MCP server by the host of the URI. */
export function hasOwnHost(uri: string): boolean {
  return hasDpeScheme(uri) || hasWindowScheme(uri);
}

/** Whether a URI has the form of those that name a Computer, so that whoever lists it cannot pass for that Computer. */
export function isReserved(uri: string): boolean {
  const lower = uri.toLowerCase();
  return [A2C, A2C_UI, A2C_SKILL].some((beginning) => lower.startsWith(beginning));
}

/** Scheme and host; the scheme alone without `//`. A template counts as the URIs that it makes. */
function authorityOf(uri: string): string {
  return (/^[^:]*:(?:\/\/[^/?#{]*)?/.exec(uri)?.[0] ?? "").toLowerCase();
}

/** The name of a place among those that can have one scheme and host. */
function keyOf({ computer, mcpServer, uri }: ResourceAddress): string {
  return JSON.stringify(hasOwnHost(uri) ? [computer] : [computer, mcpServer]);
}

function readReserved(clientUri: string): ResourceAddress | undefined {
  if (clientUri.toLowerCase().startsWith(A2C_SKILL)) return undefined;
  const isPage = clientUri.toLowerCase().startsWith(UI);
  return isPage ? readPath(clientUri.slice(A2C_UI.length), UI) : readPath(clientUri.slice(A2C.length), "");
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
