/** Attacker: a stranger who opens TCP connections and is silent. They use up the Server's open files. */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { SmcpServer } from "../../server.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { exchange, RawConnection } from "./_raw_http.ts";

const OPEN_FILES = 128;
const SILENT = 200;
const RECOVERY_DEADLINE_MS = 30_000;
const door = fromFileUrl(new URL("../../server.ts", import.meta.url));

/** `server.ts` as a process that may have few open files. */
async function startServer(permissions: string) {
  const line = `ulimit -n ${OPEN_FILES} && exec "$0" run --quiet --no-prompt ${permissions} "$1" --port 0`;
  const process = new Deno.Command("sh", {
    args: ["-c", line, Deno.execPath(), door],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stderr = new Response(process.stderr).text();
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await lines.read();
  return {
    port: Number(/:(\d+)\n/.exec(value)?.[1]),
    async stop() {
      process.kill("SIGTERM");
      await lines.cancel();
      const { code } = await process.status;
      return { code, stderr: await stderr };
    },
  };
}

/** Asks until the Server answers. */
async function untilHealthy(port: number): Promise<void> {
  const deadlineMs = performance.now() + RECOVERY_DEADLINE_MS;
  while (performance.now() < deadlineMs) {
    try {
      if ((await exchange(port, { target: "/healthz" })).status === 200) return;
    } catch {
      // Not accepted yet.
    }
  }
  throw new RangeError(`No health check answered within ${RECOVERY_DEADLINE_MS} ms`);
}

// Without the right to read /proc the limit is not known, so that the open files do run out.
for (const permissions of ["-A", "--allow-net --ignore-env"]) {
  Deno.test({
    name: `A Server that ran out of open files accepts connections afterwards (${permissions})`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      const server = await startServer(permissions);
      await untilHealthy(server.port);
      const url = `http://127.0.0.1:${server.port}`;
      const room = { agent: "ada", req_id: "1", office_id: "lab" };
      await using member = await RawPeer.join(url, { role: "agent", name: "ada", office_id: "lab" });
      const silent = Array.from({ length: SILENT }, () => new RawConnection(server.port));
      // Those that were accepted, refused or left in the system's queue.
      await Promise.all(
        silent.slice(0, 50).map(({ socket }) => socket.connecting ? once(socket) : undefined),
      );
      for (const connection of silent) await connection[Symbol.asyncDispose]();
      await untilHealthy(server.port);
      assertEquals((await member.request("server:list_room", room)).length, 1);
      await using late = await RawPeer.connect(url);
      assert(late.socket.connected);
      await member[Symbol.asyncDispose]();
      await late[Symbol.asyncDispose]();
      const { code } = await server.stop();
      assertEquals(code, 0);
    },
  });
}

function once(socket: RawConnection["socket"]): Promise<void> {
  return new Promise((resolve) => {
    socket.once("connect", () => resolve());
    socket.once("close", () => resolve());
  });
}

Deno.test("TCP connections have a bound; silent ones give their places to those who come", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, maxSockets: 4, logger });
  const silent = Array.from({ length: 4 }, () => new RawConnection(server.port));
  await Promise.all(silent.map(({ socket }) => once(socket)));
  await untilHealthy(server.port);
  assert(logger.lines.some(({ message }) => message.startsWith("refused a TCP connection")));
  for (const connection of silent) await connection[Symbol.asyncDispose]();
});
