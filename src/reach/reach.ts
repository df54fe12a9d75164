/**
 * How far a stranger may send this program, or the person at it: into no network that the stranger is not in. An MCP server names
 * addresses to a Computer, a client of a hub the address of its metadata. Resolves names.
 */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import * as http from "node:http";
import { connect, isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import * as tls from "node:tls";
import { abortable } from "../async/abortable.ts";
import { type AddressKind, kindOfHost } from "./addresses.ts";

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
 * @return The addresses of the host, which alone may be connected to; `undefined` for the configured issuer.
 * @throws {ForbiddenAddressError} when it is not allowed.
 */
export async function assertInReach(
  url: URL,
  options: ReachOptions,
  { namers, signal }: { readonly namers: readonly URL[]; readonly signal: AbortSignal },
): Promise<readonly string[] | undefined> {
  if (URL.parse(options.issuer ?? "")?.origin === url.origin) return undefined;
  const addresses = await addressesOf(url, options, signal);
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
  { hostname }: URL,
  { resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address) }: Pick<
    ReachOptions,
    "resolve"
  >,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(literal) !== 0) return [literal];
  return await abortable(resolve(hostname).catch(() => []), signal);
}

/**
 * `fetch` that connects to these addresses and resolves nothing again; the name stands in the request and in TLS. Follows no
 * redirect.
 *
 * @throws {TypeError} when the name is unknown.
 */
export async function fetchAt(
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  addresses: readonly string[],
): Promise<Response> {
  if (!isPinned(url, addresses)) return await fetch(url, { ...init, redirect: "manual" });
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = known;
  if (first === undefined) throw new TypeError(`Host not found: ${url.hostname}`);
  const sent = new Request(url, init);
  const body = new Uint8Array(await sent.arrayBuffer());
  const isLiteral = first.address === url.hostname.replace(/^\[(.*)\]$/, "$1");
  const to = {
    host: isLiteral ? first.address : url.hostname,
    port: portOf(url),
    lookup:
      ((_host, { all }, found) =>
        all ? found(null, known) : found(null, first.address, first.family)) satisfies LookupFunction,
    servername: isLiteral ? "" : url.hostname,
  };
  const request = http.request({
    path: `${url.pathname}${url.search}`,
    method: sent.method,
    headers: { "user-agent": navigator.userAgent, ...Object.fromEntries(sent.headers), host: url.host },
    signal: init.signal,
    createConnection: () => url.protocol === "http:" ? connect(to) : tls.connect(to),
  });
  // What fails after the answer has begun fails in its body.
  request.on("error", () => {}).end(body);
  const [message] = await once(request, "response");
  return toResponse(message);
}

function toResponse(message: http.IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", headersDistinct } = message;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) headers.set(name, values.join(", "));
  const isBodiless = status === 204 || status === 205 || status === 304;
  if (isBodiless) message.resume();
  const body = isBodiless ? null : Readable.toWeb(message);
  return new Response(body, { status, statusText, headers });
}

/** Whether the connection is ours: no proxy makes it, and the permissions are not for names, which then are the bound. */
function isPinned(url: URL, addresses: readonly string[]): boolean {
  const names = [`${url.protocol.slice(0, -1)}_proxy`, "all_proxy"];
  const isByProxy = names.flatMap((name) => [name, name.toUpperCase()]).some((variable) =>
    isGranted({ name: "env", variable }) && Boolean(Deno.env.get(variable))
  );
  const hosts = addresses.map((address) =>
    `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`
  );
  if (hosts.length === 0) hosts.push(url.hostname);
  return !isByProxy && hosts.every((host) => isGranted({ name: "net", host }));
}

function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

function portOf({ port, protocol }: Pick<URL, "port" | "protocol">): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
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
