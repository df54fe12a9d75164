/**
 * How far a stranger may send this program, or the person at it: into no network that the stranger is not in. An MCP server names
 * addresses to a Computer, a client of a hub the address of its metadata. Resolves names.
 */
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { Readable } from "node:stream";
import * as tls from "node:tls";
import { abortable } from "../async/abortable.ts";
import { type AddressKind, kindOfHost, plainHost, portOf } from "./addresses.ts";
import { proxyFor } from "./proxies.ts";
import { exchange, sendThrough } from "./tunnel.ts";

/** The kinds from the one that reaches deepest. */
const DEEPEST_FIRST: readonly AddressKind[] = ["loopback", "private", "public"];
export class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
}

export interface ReachOptions {
  readonly resource: URL;
  readonly issuer: string | undefined;
  /** Resolves a name to all of its addresses; by default, the resolver of the system. */
  readonly resolve?: ((hostname: string) => Promise<readonly string[]>) | undefined;
}

/**
 * Checks an address that others have named. One in a private network is allowed where it is that of the configured issuer, or
 * where all who have named it are in that network themselves. Of the address the deepest kind counts, of those who name it
 * the shallowest.
 *
 * @return The addresses of the host, which alone may be connected to where no proxy connects.
 * @throws {ForbiddenAddressError} when it is not allowed.
 */
export async function assertInReach(
  url: URL,
  options: ReachOptions,
  { namers, signal }: { readonly namers: readonly URL[]; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const addresses = await addressesOf(url, options, signal);
  if (URL.parse(options.issuer ?? "")?.origin === url.origin) return addresses;
  const [kind = "public"] = kindsOf(url, addresses);
  for (const namer of kind === "public" ? [] : namers) {
    const own = await kindOfNamer(namer, options, signal);
    if (kind === own || own === "loopback") continue;
    throw new ForbiddenAddressError(
      `Cannot use ${url.origin} for a sign-in: ${namer.origin} named it, and it is an address of a private network; ` +
        'if you trust it, set it as "issuer" in the "oauth" of the server',
    );
  }
  return addresses;
}

/** The kinds of a host's addresses and of its name, the deepest first. */
function kindsOf({ hostname }: URL, addresses: readonly string[]): AddressKind[] {
  const kinds = new Set(addresses.map(kindOfHost));
  const byName = kindOfHost(hostname);
  if (kinds.size === 0 || byName !== "public") kinds.add(byName);
  return DEEPEST_FIRST.filter((kind) => kinds.has(kind));
}

async function kindOfNamer(url: URL, options: ReachOptions, signal: AbortSignal): Promise<AddressKind> {
  const addresses = await addressesOf(url, options, signal);
  const kind = kindsOf(url, addresses).at(-1) ?? "public";
  if (kind === "public" || kindOfHost(url.hostname) !== "public") return kind;
  // A name of the internet may have had another address when the server was reached: only its certificate proves this one.
  if (url.protocol !== "https:") return "public";
  // The proxy resolved the name, perhaps to another address than this machine does.
  if (proxyFor(url) !== undefined) return "public";
  if (!isPinned(url, addresses)) return kind;
  try {
    const response = await fetchAt(new URL(url.origin), { method: "HEAD", signal }, addresses);
    await response.body?.cancel();
    return kind;
  } catch {
    signal.throwIfAborted();
    return "public";
  }
}

/** All addresses of a host; none for a name that is unknown here. */
async function addressesOf(
  url: URL,
  { resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address) }: Pick<
    ReachOptions,
    "resolve"
  >,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const literal = plainHost(url);
  if (isIP(literal) !== 0) return [literal];
  return await abortable(resolve(url.hostname).catch(() => []), signal);
}

/**
 * `fetch` that connects to these addresses and resolves nothing again; the name stands in the request and in TLS. Where a proxy
 * applies, the proxy resolves the name, and TLS alone proves the host. Follows no redirect.
 *
 * @throws {TypeError} when the name is unknown.
 */
export async function fetchAt(
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  addresses: readonly string[],
): Promise<Response> {
  const proxy = proxyFor(url);
  const hosts = proxy === undefined
    ? hostsOf(url, addresses)
    : [url, new URL(proxy.origin)].map((each) => `${each.hostname}:${portOf(each)}`);
  // Permissions for names are the bound that Deno's own `fetch` knows.
  if (!hosts.every((host) => isGranted({ name: "net", host }))) {
    return await fetch(url, { ...init, redirect: "manual" });
  }
  const sent = new Request(url, init);
  const { method } = sent;
  const body = new Uint8Array(await sent.arrayBuffer());
  const headers = { "user-agent": navigator.userAgent, ...Object.fromEntries(sent.headers), host: url.host };
  if (proxy !== undefined) {
    return toResponse(await sendThrough(proxy, url, { method, headers, body, signal: init.signal }));
  }
  if (addresses.length === 0) throw new TypeError(`Host not found: ${url.hostname}`);
  const path = `${url.pathname}${url.search}`;
  const createConnection = () => connectTo(url, addresses);
  return toResponse(await exchange({ path, method, headers, signal: init.signal, createConnection }, body));
}

/** Connects to the first of these addresses that answers. */
function connectTo(url: URL, addresses: readonly string[]): Socket {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const [{ address, family } = { address: "", family: 0 }] = known;
  const isLiteral = address === plainHost(url);
  const to = {
    host: isLiteral ? address : url.hostname,
    port: portOf(url),
    lookup:
      ((_host, { all }, found) =>
        all ? found(null, known) : found(null, address, family)) satisfies LookupFunction,
    servername: isLiteral ? "" : url.hostname,
  };
  return url.protocol === "http:" ? connect(to) : tls.connect(to);
}

function toResponse(message: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", headersDistinct } = message;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) headers.set(name, values.join(", "));
  const isBodiless = status === 204 || status === 205 || status === 304;
  if (isBodiless) message.resume();
  const body = isBodiless ? null : Readable.toWeb(message);
  return new Response(body, { status, statusText, headers });
}

/** Whether the connection is ours: the permissions are not for names, which then are the bound. */
function isPinned(url: URL, addresses: readonly string[]): boolean {
  return hostsOf(url, addresses).every((host) => isGranted({ name: "net", host }));
}

/** The addresses as permissions name them; the name where there are none. */
function hostsOf(url: URL, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) return [url.hostname];
  return addresses.map((address) => `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`);
}

function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

/**
 * `fetch` of an address that a stranger has named, which must be on the internet: each of its addresses, and its name. Follows no
 * redirect.
 *
 * @param options `resolve`: as in {@linkcode ReachOptions}.
 * @throws {ForbiddenAddressError} when it is not an https URL, or leads into a private network or to this machine.
 * @throws {TypeError} when the name is unknown.
 */
export async function fetchPublic(
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  options: Pick<ReachOptions, "resolve"> = {},
): Promise<Response> {
  const addresses = await addressesOf(url, options, init.signal);
  const isPublic = kindsOf(url, addresses).every((kind) => kind === "public");
  if (url.protocol !== "https:" || !isPublic) {
    throw new ForbiddenAddressError(
      `Cannot read ${url.origin}: it is not an https URL, or leads into a private network`,
    );
  }
  return await fetchAt(url, init, addresses);
}
