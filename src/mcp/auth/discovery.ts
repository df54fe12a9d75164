/** Finds the authorization server of an MCP server (RFC 9728, RFC 8414, OpenID Connect Discovery, MCP of 2025-03-26). */
import type * as oauth from "oauth4webapi";
import { isRecord } from "../../json/json.ts";
import { ServerNotRunningError, SignInError } from "../errors.ts";
import { issuerMetadataUrls, RESOURCE_METADATA_PATH } from "../../protocol/oauth.ts";
import { isLoopbackUrl } from "../../reach/addresses.ts";
import type { Challenge } from "./challenge.ts";
import type { OAuthFetch } from "./oauth_fetch.ts";
import { toShortLine } from "./oauth_requests.ts";

/** The most authorization servers of one document that are looked at. */
const MAX_ISSUERS = 16;
/** The longest resource, and its characters. */
const RESOURCE = /^[^\s\p{C}]{1,2048}$/u;
/** The longest issuer, and its characters: no query, no fragment, and no user name, which could pass for the host. */
const ISSUER = /^[\x21\x22\x24-\x3e\x41-\x7e]{1,2048}$/;
/** The members of an authorization server's metadata that are read as lists of texts. */
const LISTS = [
  "code_challenge_methods_supported",
  "dpop_signing_alg_values_supported",
  "scopes_supported",
  "token_endpoint_auth_methods_supported",
  "token_endpoint_auth_signing_alg_values_supported",
] as const;

export interface ProtectedResource {
  /** The resource indicator (RFC 8707). `undefined` for a server of 2025-03-26, which has no such document. */
  readonly resource: string | undefined;
  /** The issuers of its authorization servers; at least one. */
  readonly issuers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether it takes tokens that are bound to a key (DPoP), and no others. */
  readonly dpop: "required" | "accepted" | undefined;
}

/**
 * Reads the metadata of an MCP server; `undefined` when it has none. Metadata counts only for the identifier that its
 * address was derived from (RFC 9728, section 3.3): a link of the MCP server leads to its own alone, and the well-known
 * address of the whole origin to that of the origin.
 *
 * @param options `resource`: the configured resource indicator. With it, the metadata may also be of a resource above.
 * @throws {SignInError} when there is metadata of other resources alone.
 */
export async function discoverResource(
  server: URL,
  options: {
    readonly challenge: Challenge | undefined;
    readonly fetch: OAuthFetch;
    readonly signal: AbortSignal | undefined;
    readonly resource?: string | null | undefined;
  },
): Promise<ProtectedResource | undefined> {
  const { challenge, fetch, signal, resource: configured } = options;
  const { pathname, origin, search } = server;
  const own = `${origin}${pathname}${search}`;
  const path = `${origin}${RESOURCE_METADATA_PATH}${pathname === "/" ? "" : pathname}`;
  const named = challenge?.resourceMetadata;
  const identifiers = new Map([
    ...named !== undefined && URL.canParse(named, server)
      ? [[new URL(named, server).href, own] as const]
      : [],
    [`${path}${search}`, own],
    [path, `${origin}${pathname}`],
    [`${origin}${RESOURCE_METADATA_PATH}`, origin],
  ]);
  let other: string | undefined;
  for (const [place, identifier] of identifiers) {
    const document = await readJson(new URL(place), fetch, signal);
    if (document === undefined) continue;
    const resource = textsIn([document["resource"]])[0] ?? "";
    const isRight = [own, identifier].some((each) => isSameResource(resource, each)) ||
      Boolean(configured) && covers(resource, server);
    if (isRight && RESOURCE.test(resource)) return toResource({ ...document, resource }, server);
    other ??= resource;
  }
  if (other === undefined) return undefined;
  const advice = covers(other, server) ? '; to accept it, set "resource" in the "oauth" of the server' : "";
  const words = `the metadata of ${origin} is about another resource than ${own}, ${toShortLine(other)}`;
  throw new SignInError(`Cannot sign in: ${words}${advice}`);
}

function toResource(
  { resource, ...document }: Readonly<Record<string, unknown>> & { readonly resource: string },
  server: URL,
): ProtectedResource {
  const { authorization_servers: named, scopes_supported: scopes } = document;
  const issuers = textsIn(named).slice(0, MAX_ISSUERS);
  // Whoever reads the audience must not take "/bank/../mcp" for another address than it is.
  const { href } = new URL(resource);
  return {
    resource: [resource, `${resource}/`].includes(href) ? resource : href,
    // Without a list, the MCP server is its own authorization server.
    issuers: issuers.length > 0 ? issuers : [server.origin],
    scopesSupported: Array.isArray(scopes) ? textsIn(scopes) : undefined,
    dpop: dpopOf(document),
  };
}

function dpopOf(document: Readonly<Record<string, unknown>>): ProtectedResource["dpop"] {
  if (document["dpop_bound_access_tokens_required"] === true) return "required";
  return textsIn(document["dpop_signing_alg_values_supported"]).length > 0 ? "accepted" : undefined;
}

/** Whether two resources are the same but for a slash at the end. */
function isSameResource(one: string, other: string): boolean {
  const plain = (resource: string) => URL.parse(resource)?.href.replace(/\/$/, "");
  return plain(one) === plain(other);
}

/** Whether a resource is the MCP server or one above it, on the same origin: tokens for it are then for this server. */
export function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, search } = new URL(resource);
  const folder = pathname.replace(/\/*$/, "/");
  const isAbove = `${server.pathname.replace(/\/*$/, "")}/`.startsWith(folder);
  return origin === server.origin && isAbove && (search === "" || search === server.search);
}

/** An authorization server, as it describes itself. */
export interface AuthorizationServer {
  readonly metadata: oauth.AuthorizationServer;
  /** How far its clock is ahead of ours, in seconds. */
  readonly clockSkewSeconds: number;
}

/**
 * Reads the metadata of an authorization server.
 *
 * @param options `server`: the MCP server. Where the issuer is its origin and has no metadata, the endpoints are those of
 *   the specification of 2025-03-26, if `hasDefaultEndpoints` is true.
 * @throws {SignInError} when the metadata is of another issuer, or there is none.
 */
export async function discoverAuthorizationServer(
  issuer: string,
  options: {
    readonly server: URL;
    readonly fetch: OAuthFetch;
    readonly signal: AbortSignal | undefined;
    readonly hasDefaultEndpoints: boolean;
  },
): Promise<AuthorizationServer> {
  const { server, fetch, signal, hasDefaultEndpoints } = options;
  const url = issuerUrl(issuer);
  let clockSkewSeconds = 0;
  const timed: OAuthFetch = async (at, init) => {
    const response = await fetch(at, init);
    clockSkewSeconds = skewOf(response.headers) ?? clockSkewSeconds;
    return response;
  };
  for (const place of issuerMetadataUrls(url)) {
    const document = await readJson(place, timed, signal);
    if (document === undefined) continue;
    return { metadata: toServerMetadata(document, issuer), clockSkewSeconds };
  }
  if (!hasDefaultEndpoints || url.origin !== server.origin) {
    throw new SignInError(`Cannot sign in: no metadata of the authorization server ${url.origin}`);
  }
  return { metadata: defaultMetadata(url.origin), clockSkewSeconds };
}

/** Whether a server without a document about itself has one about its authorization server: MCP of 2025-03-26. */
export async function hasServerMetadata(
  server: URL,
  { fetch, signal }: { readonly fetch: OAuthFetch; readonly signal: AbortSignal | undefined },
): Promise<boolean> {
  for (const place of issuerMetadataUrls(new URL(server.origin))) {
    const document = await readJson(place, fetch, signal);
    if (document !== undefined) return typeof document["token_endpoint"] === "string";
  }
  return false;
}

/**
 * The address of an issuer.
 *
 * @throws {SignInError} when it is not an https URL.
 */
export function issuerUrl(issuer: string): URL {
  // The text is shown, and `URL` drops line ends.
  const url = ISSUER.test(issuer) && URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackUrl(url))) return url;
  throw new SignInError(`Cannot sign in: the authorization server "${url?.origin ?? ""}" has no https URL`);
}

function toServerMetadata(
  document: Readonly<Record<string, unknown>>,
  issuer: string,
): oauth.AuthorizationServer {
  const own = document["issuer"];
  // RFC 8414 asks for the same characters; many deployments add or omit the slash of an empty path.
  if (typeof own !== "string" || !isSameIssuer(own, issuer)) {
    throw new SignInError(
      `Cannot sign in: the metadata of the authorization server ${issuer} is of another issuer`,
    );
  }
  const lists = LISTS.filter((name) => document[name] !== undefined);
  const texts = Object.fromEntries(lists.map((name) => [name, listOf(document[name])]));
  return { ...document, ...texts, issuer: own };
}

/** The texts of a list; `undefined` for anything else. */
function listOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? textsIn(value) : undefined;
}

/** Whether two issuers are the same but for the slash of an empty path. */
export function isSameIssuer(one: string, other: string): boolean {
  const plain = (issuer: string) => /^https?:\/\/[^/]+\/$/.test(issuer) ? issuer.slice(0, -1) : issuer;
  return plain(one) === plain(other);
}

/** The endpoints of an authorization server without metadata, by the specification of 2025-03-26. */
function defaultMetadata(origin: string): oauth.AuthorizationServer {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}

/**
 * Reads a document; `undefined` when there is none at that place.
 *
 * @throws {ServerNotRunningError} when the server is overloaded or broken: the answer may be another one later.
 */
async function readJson(
  place: URL,
  fetch: OAuthFetch,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown> | undefined> {
  const response = await fetch(place.href, {
    headers: { accept: "application/json" },
    ...(signal === undefined ? {} : { signal }),
  });
  const { status } = response;
  if (status >= 500 || status === 429) {
    const reason = "its authorization server is not available";
    throw new ServerNotRunningError({ reason, detail: `${place.origin}: HTTP ${status}` });
  }
  if (status !== 200) return undefined;
  try {
    const document: unknown = await response.json();
    return isRecord(document) ? document : undefined;
  } catch {
    // Some servers answer every path with a page.
    return undefined;
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** How far a server's clock is ahead of ours, in seconds. */
function skewOf(headers: Headers): number | undefined {
  const timeMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(timeMs) ? undefined : Math.round((timeMs - Date.now()) / 1_000);
}
