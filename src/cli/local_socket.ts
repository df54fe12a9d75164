/**
 * Connections between programs of one user: over a Unix socket, and on Windows over a named pipe. Both are found by the
 * path of a file in a folder that only this user can access.
 */

const isWindows = Deno.build.os === "windows";

export interface LocalConnection {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves to how many bytes were written: at least one. */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

export interface LocalListener extends AsyncIterable<LocalConnection> {
  /** Stops listening. The file stays, and is removed by whoever chose its path. */
  close(): void;
}

/**
 * Listens at a path.
 *
 * @throws {Deno.errors.AddrInUse} when the file exists, whether somebody listens there or not.
 */
export async function listenLocally(path: string): Promise<LocalListener> {
  if (isWindows) return await (await import("./named_pipe.ts")).listenAtPipe(path);
  const listener = Deno.listen({ transport: "unix", path });
  await Deno.chmod(path, 0o600);
  return listener;
}

/**
 * Connects to the program that listens at a path.
 *
 * @throws {Deno.errors.NotFound | Deno.errors.ConnectionRefused} when nobody does.
 */
export async function connectLocally(path: string): Promise<LocalConnection> {
  if (isWindows) return await (await import("./named_pipe.ts")).connectToPipe(path);
  return await Deno.connect({ transport: "unix", path });
}
