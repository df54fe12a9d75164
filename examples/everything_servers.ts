/** Starts the public `server-everything` over HTTP: a separate process that listens on a port. */

/** The version of `npm:@modelcontextprotocol/server-everything` that the examples use. */
export const EVERYTHING = "npm:@modelcontextprotocol/server-everything@2026.8.31";

/** The most ports to try; a port may be in use. */
const MAX_ATTEMPTS = 5;

/** A running server. */
export interface HttpServerProcess extends AsyncDisposable {
  readonly url: string;
}

/** Starts `server-everything` on a free port and waits until it listens. */
export async function startEverything(transport: "streamableHttp" | "sse"): Promise<HttpServerProcess> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const port = freePort();
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", EVERYTHING, transport],
      env: { PORT: String(port) },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const server = toServer(process, `http://127.0.0.1:${port}${transport === "sse" ? "/sse" : "/mcp"}`);
    if (await listens(process, port)) return server;
    await server[Symbol.asyncDispose]();
  }
  throw new TypeError(`Cannot start server-everything: no port in ${MAX_ATTEMPTS} attempts`);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Waits until the server reports on stderr that it listens (`true`), or that the port is in use (`false`). */
async function listens(process: Deno.ChildProcess, port: number): Promise<boolean> {
  const [mine, rest] = process.stderr.tee();
  rest.pipeTo(new WritableStream()).catch(() => {});
  const reader = mine.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    said += read.value;
    const isTaken = said.includes("EADDRINUSE") || said.includes("in use");
    if (!isTaken && !said.includes(`port ${port}`)) continue;
    await reader.cancel();
    return !isTaken;
  }
  return false;
}

function toServer(process: Deno.ChildProcess, url: string): HttpServerProcess {
  return {
    url,
    async [Symbol.asyncDispose]() {
      try {
        process.kill("SIGKILL");
      } catch {
        // The process has already ended.
      }
      await process.status;
    },
  };
}
