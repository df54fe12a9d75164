/** Deno's HTTP client for one address, with the proxy that applies there. Deno itself would send requests to this machine through a proxy. */
import { hasProxies, type HttpProxy, proxyFor } from "./proxies.ts";

/** What `NO_PROXY` holds for Deno to use no proxy at all. */
const EVERYWHERE = "*,0.0.0.0/0,::/0";

export interface ProxiedClient {
  readonly client: Deno.HttpClient;
  readonly proxy: HttpProxy | undefined;
}

/**
 * Opens a client for requests to the origin of a URL.
 *
 * @throws {ProxyError} when the variable that names the proxy cannot be read.
 */
export function openHttpClient(url: URL): ProxiedClient {
  const proxy = proxyFor(url);
  if (proxy === undefined && !hasProxies()) return { client: Deno.createHttpClient({}), proxy };
  const { origin, credentials } = proxy ?? {};
  const basic = credentials === undefined ? {} : { basicAuth: credentials };
  const options = origin === undefined ? {} : { proxy: { url: origin, ...basic } };
  // Deno reads it now, also for a proxy that is given, and knows fewer forms of it.
  return withNoProxy(proxy === undefined ? EVERYWHERE : "", () => ({
    client: Deno.createHttpClient(options),
    proxy,
  }));
}

function withNoProxy<T>(value: string, run: () => T): T {
  const names = ["NO_PROXY", "no_proxy"] as const;
  const isAllowed = names.every((variable) =>
    Deno.permissions.querySync({ name: "env", variable }).state === "granted"
  );
  if (!isAllowed) return run();
  const earlier = names.map((name) => [name, Deno.env.get(name)] as const);
  for (const name of names) Deno.env.set(name, value);
  try {
    return run();
  } finally {
    for (const [name, text] of earlier) text === undefined ? Deno.env.delete(name) : Deno.env.set(name, text);
  }
}
