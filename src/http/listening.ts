/** Opens and closes the port of an HTTP server. */
import { onAbort } from "../async/abortable.ts";
import type { Server as HttpServer } from "node:http";

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
}

/** The Server cannot listen on its address; `cause` is the error of the system. */
export class ListenError extends Error {
  /** The name of the class. */
  override readonly name = "ListenError";
  /** The code of this kind of error. */
  readonly code: "LISTEN_FAILED" = "LISTEN_FAILED";
}

/**
 * Listens, and resolves to the port.
 *
 * @throws {ListenError} when the port is in use, or the address does not belong to this machine.
 */
export async function startListening(server: HttpServer, address: Address): Promise<number> {
  const { host, port, signal } = address;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using _ = onAbort(signal, () => reject(signal?.reason));
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
    server.removeListener("error", reject);
  }
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : port;
}

export function stopListening(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EACCES: "no permission for this port",
  EADDRNOTAVAIL: "the address does not belong to this machine",
  // Deno's code for the same problem.
  EINVAL: "the address does not belong to this machine",
  ENOTFOUND: "unknown host",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return (code && REASONS[code]) ?? (error instanceof Error ? error.message : String(error));
}
