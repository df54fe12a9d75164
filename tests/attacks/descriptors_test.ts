/** Attacker: a stranger who opens TCP connections and is silent. They use up the Server's open files. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { doorWords, RunningDoor } from "../fixtures/door.ts";
import { eventually } from "../fixtures/within.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { exchange, RawConnection } from "./_raw_http.ts";

const OPEN_FILES = 128;
const SILENT = 200;

/** Asks until the Server answers. */
async function untilHealthy(port: number): Promise<void> {
  const status = () => exchange(port, { target: "/healthz" }).then(({ status }) => status, () => undefined);
  await eventually(status, (code) => code === 200, "a health check to be answered");
}

// Without the right to read /proc the limit is not known, so that the open files do run out. Each recovery takes the
// seconds of several checks, so both are waited for at the same time.
Deno.test({
  name:
    "A Server that ran out of open files accepts connections afterwards, with all and with few permissions",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await Promise.all([["-A"], ["--allow-net", "--ignore-env"]].map(exhaustAndRecover));
  },
});

Deno.test({
  name:
    "A Server with too few open files for its connections warns at its start, and names them when they run out",
  // Only Linux tells the limit.
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const words = doorWords("server.ts", ["--port", "0", "--max-sockets", "5000"], ["-A"]);
    await using program = limited(words);
    await program.stdout.until("\n");
    await program.stderr.until("open_files=128");
    assertStringIncludes(program.stderr.text, 'option="--max-sockets (maxSockets)" value=5000');
    const port = Number(/:(\d+)\n/.exec(program.stdout.text)?.[1]);
    await untilHealthy(port);
    const silent = new Set<RawConnection>();
    // The Server ends silent connections after some time, which on a busy machine may come before its check.
    const refill = () => {
      for (const connection of silent) if (connection.socket.destroyed) silent.delete(connection);
      while (silent.size < SILENT) silent.add(new RawConnection(port));
      return program.stderr.text;
    };
    const remedy = "EMFILE: too many open files; raise the limit of open files (ulimit -n, LimitNOFILE)";
    await eventually(refill, (text) => text.includes(remedy), "the Server to name what has run out");
    for (const connection of silent) await connection[Symbol.asyncDispose]();
    program.kill();
    await program.end();
  },
});

/** Starts a program that may open few files. */
function limited(words: readonly string[]): RunningDoor {
  return new RunningDoor(["sh", "-c", `ulimit -n ${OPEN_FILES} && exec "$@"`, "sh", ...words]);
}

async function exhaustAndRecover(permissions: readonly string[]): Promise<void> {
  const words = doorWords("server.ts", ["--port", "0"], permissions);
  await using program = limited(words);
  await program.stdout.until("\n");
  const port = Number(/:(\d+)\n/.exec(program.stdout.text)?.[1]);
  await untilHealthy(port);
  const url = `http://127.0.0.1:${port}`;
  const room = { agent: "ada", req_id: "1", office_id: "lab" };
  await using member = await RawPeer.join(url, { role: "agent", name: "ada", office_id: "lab" });
  const silent = Array.from({ length: SILENT }, () => new RawConnection(port));
  // Those that were accepted, refused or left in the system's queue.
  await Promise.all(
    silent.slice(0, 50).map(({ socket }) => socket.connecting ? once(socket) : undefined),
  );
  for (const connection of silent) await connection[Symbol.asyncDispose]();
  await untilHealthy(port);
  assertEquals((await member.request("server:list_room", room)).length, 1);
  await using late = await RawPeer.connect(url);
  assert(late.socket.connected);
  await member[Symbol.asyncDispose]();
  await late[Symbol.asyncDispose]();
  program.kill();
  assertEquals((await program.end()).code, 0);
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
  const refusal = logger.lines.find(({ message }) => message.startsWith("refused a TCP connection"));
  assertEquals(refusal?.fields["option"], "--max-sockets (maxSockets)");
  for (const connection of silent) await connection[Symbol.asyncDispose]();
});
