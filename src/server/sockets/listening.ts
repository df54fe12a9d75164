/** Opening and closing an HTTP server's port. */
import type { Server as HttpServer } from "node:http";

/** Where to listen. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
}

/** The Server cannot have the address that it was given; `cause` is what the system said. */
export class ListenError extends Error {
  /** Tells the class of an error. */
  override readonly name = "ListenError";
  /** Tells the kind of an error. */
  readonly code = "LISTEN_FAILED";
}

/**
 * Listens, and resolves to the real port.
 *
 * @throws {ListenError} when the port is in use, or the host is none of this machine.
 */
export async function startListening(server: HttpServer, address: Address): Promise<number> {
  const { host, port, signal } = address;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  server.once("error", reject);
  server.listen({ host, port }, resolve);
  try {
    await promise;
  } catch (cause) {
    server.close();
    throw signal?.aborted
      ? cause
      : new ListenError(`Cannot listen on "${host}:${port}": ${reasonOf(cause)}`, { cause });
  } finally {
    signal?.removeEventListener("abort", onAbort);
    server.removeListener("error", reject);
  }
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : port;
}

/** Stops listening and ends what connections are left. */
export function stopListening(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EACCES: "the port needs more rights",
  EADDRNOTAVAIL: "the address is none of this machine",
  ENOTFOUND: "the host is not known",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return (code && REASONS[code]) ?? (error instanceof Error ? error.message : String(error));
}

/** Whether the permission was granted to this process when it started. Node has no permissions to ask for. */
export function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return typeof Deno === "undefined" || Deno.permissions.querySync(permission).state === "granted";
}
