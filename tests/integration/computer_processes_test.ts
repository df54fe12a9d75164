import { assert, assertEquals } from "@std/assert";
import { Computer } from "../../src/computer/computer.ts";
import { ProcessGuard } from "../../src/mcp/stdio/guard.ts";
import { Inflow } from "../../src/mcp/json_rpc.ts";
import { DEFAULT_SERVER_LIMITS } from "../../src/mcp/limits.ts";
import { type StdioParameters, StdioTransport } from "../../src/mcp/stdio/transport.ts";
import { silentLogger } from "../../src/log.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { isAlive, untilGone } from "./_processes.ts";
import { isWindows } from "../fixtures/system.ts";
import { eventually, within } from "../fixtures/within.ts";

const isPosix = !isWindows;
const isLinux = Deno.build.os === "linux";
/** A program for `sh` that ignores the polite ways to end it. */
const STUBBORN = "trap '' TERM HUP INT; while :; do sleep 60; done";

type StartedTransport = Awaited<ReturnType<typeof startTransport>>;

/** Starts a transport for a script and collects what it says. */
async function startTransport(
  script: Script,
  { guard = new ProcessGuard(), ...changes }: Partial<StdioParameters> & { guard?: ProcessGuard } = {},
) {
  const parameters = {
    ...scripted(script)["server_parameters"] as StdioParameters,
    env: null,
    cwd: null,
    encoding: "utf-8",
    encoding_error_handler: "strict" as const,
    ...changes,
  };
  const log = new LogBook();
  const { stopGraceMs: defaultMs } = DEFAULT_SERVER_LIMITS;
  // Nothing but time passes until a stubborn server is killed.
  const stopGraceMs = script.stubborn === true ? 50 : defaultMs;
  const limits = { ...DEFAULT_SERVER_LIMITS, maxMessageBytes: 1_000_000, stopGraceMs };
  const transport = new StdioTransport(parameters, { guard, log, limits, inflow: new Inflow() });
  const messages: unknown[] = [];
  const pids = Promise.withResolvers<number[]>();
  const closed = Promise.withResolvers<void>();
  transport.onmessage = (message) => {
    messages.push(message);
    if ("params" in message && Array.isArray(message.params?.["pids"])) pids.resolve(message.params["pids"]);
  };
  transport.onclose = () => closed.resolve();
  await transport.start();
  return {
    transport,
    log,
    messages,
    /** The ids of a stubborn server and its child. */
    get pids() {
      return within(pids.promise, "the ids of a stubborn server and its child");
    },
    get closed() {
      return within(closed.promise, "the end of the server");
    },
    async [Symbol.asyncDispose]() {
      await transport.close();
      await guard.close();
    },
  };
}

Deno.test({
  name: "closing ends a server that ignores its closed stdin and SIGTERM, and its child",
  async fn() {
    await using started = await startTransport({ stubborn: true });
    const pids = await started.pids;
    for (const pid of pids) assert(await isAlive(pid));
    await started.transport.close();
    await untilGone(pids);
  },
});

Deno.test({
  name: "a server's exit is its death although its child still holds its stdout, and takes the child along",
  async fn() {
    await using started = await startTransport({ stubborn: true, dieOn: ["ping"] });
    const [, child = 0] = await started.pids;
    await started.transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await started.closed;
    assertEquals(started.transport.exit, "exit code 7");
    await untilGone([child]);
  },
});

for (
  const { how, end } of [
    { how: "is closed", end: ({ transport }: StartedTransport) => transport.close() },
    {
      how: "dies",
      async end({ transport, closed }: StartedTransport) {
        await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
        await closed;
      },
    },
  ]
) {
  Deno.test({
    name:
      `a grandchild that has left the process group ends with its server that ${how}, and no other server's`,
    ignore: !isLinux && !isWindows,
    async fn() {
      const guard = new ProcessGuard();
      await using one = await startTransport({ stubborn: true, stray: true, dieOn: ["ping"] }, { guard });
      await using other = await startTransport({ stubborn: true, stray: true }, { guard });
      const [pids, others] = await Promise.all([one.pids, other.pids]);
      await end(one);
      await untilGone(pids);
      for (const pid of others) assert(await isAlive(pid));
      await other.transport.close();
      await guard.close();
      for (const pid of others) assertEquals(await isAlive(pid), false);
    },
  });
}

Deno.test({
  name: "the guard kills what has left a process group, too, when its Computer is gone",
  ignore: !isLinux,
  async fn() {
    const guard = new ProcessGuard();
    const env = guard.environment();
    const [child, stray, stranger] = [env, env, {}].map((env) =>
      new Deno.Command("sh", { args: ["-c", STUBBORN], env, detached: true }).spawn()
    );
    assert(child !== undefined && stray !== undefined && stranger !== undefined);
    guard.add(child.pid, env);
    await guard.close();
    assertEquals([(await child.status).signal, (await stray.status).signal], ["SIGKILL", "SIGKILL"]);
    assert(await isAlive(stranger.pid));
    stranger.kill("SIGKILL");
    await stranger.status;
  },
});

Deno.test({
  name: "a guard that dies is replaced by one that knows all process groups",
  ignore: !isPosix,
  async fn() {
    const log = new LogBook();
    const guard = new ProcessGuard(log);
    const child = new Deno.Command("sh", { args: ["-c", STUBBORN], detached: true }).spawn();
    guard.add(child.pid);
    const pid = await guard.pid;
    assert(pid !== undefined);
    Deno.kill(pid, "SIGKILL");
    await log.until(({ message }) => message.includes("guard of child processes exited"));
    await guard.close();
    assertEquals((await child.status).signal, "SIGKILL");
  },
});

Deno.test({
  name: "the guard kills the process groups that are left when its Computer is gone",
  ignore: !isPosix,
  async fn() {
    const guard = new ProcessGuard();
    const spawn = () => new Deno.Command("sh", { args: ["-c", STUBBORN], detached: true }).spawn();
    const [left, removed] = [spawn(), spawn()];
    guard.add(left.pid);
    guard.add(removed.pid);
    guard.remove(removed.pid);
    // What the end of the Computer does to the guard: its stdin closes.
    await guard.close();
    assertEquals((await left.status).signal, "SIGKILL");
    assert(await isAlive(removed.pid));
    removed.kill("SIGKILL");
    await removed.status;
  },
});

Deno.test("a guard that was never needed starts no process, and closing it twice is fine", async () => {
  const guard = new ProcessGuard(silentLogger);
  guard.remove(1);
  assertEquals(await guard.pid, undefined);
  await guard.close();
  await guard.close();
});

Deno.test("a Computer that is closed while its servers start leaves nothing behind", async () => {
  const config = scriptedServers({ mute: { hang: ["initialize"] }, slow: {}, gone: { exitAtStart: true } });
  const computer = Computer.open({ name: "laptop", config });
  await computer.close();
  await computer.close();
  assertEquals([...computer.servers.values()].map(({ status }) => status), ["stopped", "stopped", "stopped"]);
});

Deno.test("a Computer is ready although a server never starts, and close ends that start", async () => {
  const log = new LogBook();
  const config = scriptedServers({ mute: { hang: ["initialize"] } });
  const computer = Computer.open({ name: "laptop", config, logger: log });
  await computer.ready({ timeoutMs: 100 });
  await computer.close();
  assert(log.lines.some(stateOf("mute", "stopped")));
});

// proves: data-config-encoding, data-config-encoding-errors
Deno.test("a server's output is decoded as configured, and what is sent holds ASCII alone", {
  ignore: isWindows,
}, async () => {
  // 0xE9 is é in latin1 and no UTF-8 at all.
  const line = (end: string) => `printf '{"jsonrpc":"2.0","method":"caf\\351"}\\n'; ${end}`;
  const sh = (encoding: string, onError: "strict" | "ignore" | "replace", end = "cat >/dev/null") =>
    startTransport({}, { command: "sh", args: ["-c", line(end)], encoding, encoding_error_handler: onError });
  const cases = [
    ["latin1", "strict", [{ jsonrpc: "2.0", method: "café" }]],
    ["utf-8", "replace", [{ jsonrpc: "2.0", method: "caf\ufffd" }]],
    ["utf-8", "ignore", [{ jsonrpc: "2.0", method: "caf" }]],
    ["utf-8", "strict", []],
  ] as const;
  for (const [encoding, onError, expected] of cases) {
    await using started = await sh(encoding, onError);
    await started.transport.close();
    assertEquals(started.messages, [...expected], `${encoding} ${onError}`);
  }
  await using started = await startTransport({}, { command: "cat", args: [], encoding: "latin1" });
  await started.transport.send({ jsonrpc: "2.0", method: "café 😀" });
  await started.transport.close();
  assertEquals(started.messages, [{ jsonrpc: "2.0", method: "café 😀" }] as unknown);
});

Deno.test("lines that end as on Windows are messages", async () => {
  const script =
    `console.log('{"jsonrpc":"2.0","method":"one"}\\r\\n\\r\\n{"jsonrpc":"2.0","method":"two"}\\r')`;
  await using started = await startTransport({}, { command: Deno.execPath(), args: ["eval", script] });
  await started.closed;
  assertEquals(started.messages, [{ jsonrpc: "2.0", method: "one" }, { jsonrpc: "2.0", method: "two" }]);
});

Deno.test("a message that goes on far over the limit ends the server and says so", {
  ignore: isWindows,
}, async () => {
  await using started = await startTransport({}, {
    command: "sh",
    args: ["-c", "head -c 9000001 /dev/zero | tr '\\0' x; cat >/dev/null"],
  });
  await started.closed;
  const said = 'Cannot read a message of more than 1000000 bytes; "limits": { "maxMessageBytes"';
  assert(started.transport.exit?.startsWith(said), started.transport.exit);
  const [warning] = started.log.of("warn");
  assert(String(warning?.fields["error"]).startsWith(said));
});

// proves: data-config-stdio
Deno.test("a server gets its args, env and cwd, and no other variable but those of the list", {
  ignore: isWindows,
}, async () => {
  Deno.env.set("SMCP_TEST_SECRET", "not for children");
  try {
    await using started = await startTransport({}, {
      command: "sh",
      args: [
        "-c",
        `printf '{"jsonrpc":"2.0","method":"%s %s %s %s"}\\n' "$1" "$A" "$PWD" "$SMCP_TEST_SECRET"; cat >/dev/null`,
        "sh",
        "arg",
      ],
      env: { A: "b" },
      cwd: "/",
    });
    await started.transport.close();
    assertEquals(started.messages, [{ jsonrpc: "2.0", method: "arg b / " }] as unknown);
  } finally {
    Deno.env.delete("SMCP_TEST_SECRET");
  }
});

// Deno reads two streams of each there, and has four threads for each processor.
Deno.test({
  name: "more servers than Deno has threads to read from are heard",
  ignore: !isWindows,
  async fn() {
    await using stack = new AsyncDisposableStack();
    const servers = Array.from({ length: 2 * navigator.hardwareConcurrency }, () => startTransport({}));
    const started = (await Promise.all(servers)).map((server) => stack.use(server));
    for (const { transport } of started) await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    const answers = () => started.flatMap(({ messages }) => messages);
    await eventually(answers, ({ length }) => length === started.length, "the answers of all servers");
  },
});
