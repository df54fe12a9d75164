/**
 * Which HTTP proxy a request goes through: the one that the environment names, read as curl and Python read it. Requests to
 * this machine go through none.
 */
import { BlockList, isIP } from "node:net";
import process from "node:process";
import { isSecureUrl, kindOfHost, plainHost, portOf } from "./addresses.ts";

/** What `NO_PROXY` holds where requests to this machine go through the proxy as well, as in browsers. */
const PROXIED_LOOPBACK = "<-loopback>";

/** A proxy. Its password is in nothing that is shown. */
export interface HttpProxy {
  /** The variable that names it. */
  readonly variable: string;
  /** Its address without user name and password, such as `http://proxy.example:3128`. */
  readonly origin: string;
  readonly credentials?: { readonly username: string; readonly password: string } | undefined;
}

/** A proxy cannot be used (`PROXY_REFUSED`), or failed and may work later (`PROXY_FAILED`). */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly code: "PROXY_REFUSED" | "PROXY_FAILED";

  constructor(code: ProxyError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Reads a variable; empty where there is none. */
export type ReadVariable = (name: string) => string;

/**
 * The proxy for requests to a URL of the schemes http, https, ws and wss.
 *
 * @param read By default, reads the environment of this process.
 * @throws {ProxyError} when the variable that names it cannot be read.
 */
export function proxyFor(url: URL, read: ReadVariable = readVariable): HttpProxy | undefined {
  const found = firstOf(["a2c_proxy", isSecureUrl(url) ? "https_proxy" : "http_proxy", "all_proxy"], read);
  if (found === undefined || isDirect(url, firstOf(["no_proxy"], read)?.value ?? "")) return undefined;
  return parseProxy(found);
}

/** Whether the environment names any proxy. */
export function hasProxies(): boolean {
  return firstOf(["a2c_proxy", "https_proxy", "http_proxy", "all_proxy"], readVariable) !== undefined;
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** The first of these variables that is not empty; the name in small letters counts before the one in capitals. */
function firstOf(names: readonly string[], read: ReadVariable): Variable | undefined {
  return names.flatMap((name) => [name, name.toUpperCase()])
    .map((name) => ({ name, value: read(name) }))
    .find(({ value }) => value !== "");
}

function readVariable(name: string): string {
  // Without the permission, Deno would ask at the terminal. Node has no permissions of this kind.
  const { permissions } = globalThis.Deno ?? {};
  const isReadable = permissions === undefined ||
    permissions.querySync({ name: "env", variable: name }).state === "granted";
  return isReadable ? process.env[name]?.trim() ?? "" : "";
}

/**
 * Reads the address of a proxy; without a scheme, it is an HTTP proxy.
 *
 * @throws {ProxyError} The message does not show the value, which may have a password.
 */
export function parseProxy({ name, value }: Variable): HttpProxy {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (url === null || url.hostname === "") {
    const remedy = "set a URL such as http://USER:PASSWORD@proxy.example:3128, special characters as %40";
    throw new ProxyError("PROXY_REFUSED", `Cannot read the proxy in ${name}: it is not a URL; ${remedy}`);
  }
  // Other schemes have no `origin`.
  const origin = `${url.protocol}//${url.host}`;
  if (url.username === "" && url.password === "") return { variable: name, origin };
  try {
    const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return { variable: name, origin, credentials: { username, password } };
  } catch {
    const state = "its user name or password has a % that begins no percent-encoded character";
    throw new ProxyError("PROXY_REFUSED", `Cannot read the proxy in ${name}: ${state}; write % as %25`);
  }
}

/** Whether `NO_PROXY` lists the host of a URL. */
function isDirect(url: URL, list: string): boolean {
  const entries = list.toLowerCase().split(/[\s,]+/);
  const host = plainHost(url).replace(/\.$/, "");
  if (kindOfHost(host) === "loopback") return !entries.includes(PROXIED_LOOPBACK);
  return entries.some((entry) => covers(entry, { host, port: `${portOf(url)}` }));
}

/** `*`, `host`, `.suffix`, `*.suffix`, an address or a network, each also with a port. A name covers the names below it. */
function covers(entry: string, { host, port }: { readonly host: string; readonly port: string }): boolean {
  // An IPv6 address with a port stands in brackets.
  const [, place = entry, ownPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (place === "" || (ownPort !== undefined && ownPort !== port)) return false;
  if (place === "*") return true;
  const name = plainHost({ hostname: place });
  if (isIP(host) !== 0) return networkOf(name)?.check(host, isIP(host) === 6 ? "ipv6" : "ipv4") === true;
  const suffix = name.replace(/^\*?\./, "");
  return host === suffix || host.endsWith(`.${suffix}`);
}

/** The addresses of `10.0.0.1`, `10.0.0.0/8` or `fd00::/8`; `undefined` for anything else. */
function networkOf(text: string): BlockList | undefined {
  const [base = "", bits, ...rest] = text.split("/");
  const family = isIP(base) === 6 ? "ipv6" : "ipv4";
  const maxBits = family === "ipv6" ? 128 : 32;
  const prefix = bits === undefined ? maxBits : /^\d+$/.test(bits) ? Number(bits) : NaN;
  if (isIP(base) === 0 || rest.length > 0 || !(prefix <= maxBits)) return undefined;
  const network = new BlockList();
  network.addSubnet(base, prefix, family);
  return network;
}

/** The error for a proxy that answers 407. */
export function credentialsRefused({ variable, origin, credentials }: HttpProxy): ProxyError {
  const text = credentials === undefined
    ? `the proxy "${origin}" wants a user name and a password (HTTP 407); ` +
      `set ${variable}=${origin.replace("//", "//USER:PASSWORD@")}, special characters as %40`
    : `the proxy "${origin}" refuses the user name or the password (HTTP 407); check those in ${variable}`;
  return new ProxyError("PROXY_REFUSED", text);
}

/** Says of a failure, as Deno's `fetch` tells it, that a proxy was on the way. */
export function throughProxy(proxy: HttpProxy | undefined, reason: string): string {
  if (proxy === undefined || reason.includes(proxy.origin)) return reason;
  if (reason.includes("proxy authentication required")) return credentialsRefused(proxy).message;
  return `${reason} (through the proxy "${proxy.origin}" in ${proxy.variable})`;
}
