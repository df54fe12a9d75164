/**
 * Measures how much memory and time admitted members can cost a Server with default options, in a separate process: a
 * member that does not read compared with one that reads, and 100,000 requests that were abandoned. Linux only.
 *
 * ```sh
 * deno run -A bench/attacks/members.ts   # a table; exit code 2 if a target is exceeded
 * ```
 */
import { RawMember } from "../../tests/attacks/_raw_member.ts";
import { OutgoingFrame } from "../relay/frames.ts";
import { RawPeer } from "../relay/raw_peer.ts";
import { ServerProcess } from "../fixtures/server_process.ts";
import { residentMib } from "../soak/proc.ts";

const MAX_DEAF_MIB = 32;
const REQUESTS = 100_000;
const OPEN_AT_A_TIME = 1_000;
const WAIT_MS = 10_000;
const IDLE_SECONDS = 4;
/** The most that abandoned requests may cost later, compared with answered ones: no more than the measurement noise. */
const MAX_LEFT_MIB = 16;
const MAX_LEFT_CPU_MS = 20;
const DAY_SECONDS = 86_400;
/** The unit in which Linux counts processor time: a hundredth of a second. */
const MS_PER_TICK = 10;

/** The processor time that a process has used so far, in milliseconds. */
async function cpuMsOf({ pid }: ServerProcess): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Measures the resident memory every 50 ms while `work` runs. */
async function peakMib(server: ServerProcess, work: () => Promise<void>): Promise<number> {
  let peak = await residentMib(server.pid);
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      peak = Math.max(peak, await residentMib(server.pid));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  await work();
  isDone = true;
  await watching;
  return peak;
}

/** Sends 400 requests of 1 MB to a Computer. Each one is sent after the Server has handled the previous one. */
async function flood(server: ServerProcess, { isDeaf }: { readonly isDeaf: boolean }): Promise<number> {
  using agent = await RawMember.join(server, { role: "agent", name: "a", office_id: "bench" });
  using computer = await RawMember.join(server, { role: "computer", name: "c", office_id: "bench" });
  const reading = isDeaf ? undefined : computer.untilClosed();
  const text = "x".repeat(1_000_000);
  const peak = await peakMib(server, async () => {
    for (let i = 0; i < 400; i++) {
      await agent.send(`42/smcp,["client:x",{"agent":"a","req_id":"r${i}","computer":"c","text":"${text}"}]`);
      await agent.send(`42/smcp,${i}["server:list_room",{"req_id":"l","office_id":"bench"}]`);
      await agent.readUntil(`43/smcp,${i}[`);
    }
  });
  computer[Symbol.dispose]();
  await reading;
  return peak;
}

/** Sends 100,000 notifications to an Agent. */
async function notify(server: ServerProcess, { isDeaf }: { readonly isDeaf: boolean }): Promise<number> {
  using agent = await RawMember.join(server, { role: "agent", name: "a", office_id: "bench" });
  const reading = isDeaf ? undefined : agent.untilClosed();
  const peak = await peakMib(server, async () => {
    for (let batch = 0; batch < 200; batch++) {
      // The Server limits the notifications of one sender.
      using computer = await RawMember.join(server, {
        role: "computer",
        name: `c${batch}`,
        office_id: "bench",
      });
      await computer.send(...Array<string>(500).fill('42/smcp,["server:update_config",{"computer":"c"}]'));
      await computer.send(`42/smcp,${batch}["server:list_room",{"req_id":"l","office_id":"bench"}]`);
      await computer.readUntil(`43/smcp,${batch}[`);
    }
  });
  agent[Symbol.dispose]();
  await reading;
  return peak;
}

/**
 * Sends requests, leaves and returns, until this number of requests was sent. With `isWaiting` the Agent leaves after all
 * answers have arrived.
 */
async function ask(
  server: ServerProcess,
  { requests, isWaiting }: { readonly requests: number; readonly isWaiting: boolean },
): Promise<void> {
  for (let asked = 0; asked < requests; asked += OPEN_AT_A_TIME) {
    using agent = await RawMember.join(server, { role: "agent", name: "a", office_id: "bench" });
    const calls = Array.from({ length: OPEN_AT_A_TIME }, (_, i) => {
      const id = `"agent":"a","req_id":"r${asked + i}","computer":"c","timeout":${DAY_SECONDS}`;
      return `42/smcp,${i}["client:x",{${id},"text":"${"x".repeat(500)}"}]`;
    });
    await agent.send(...calls);
    await agent.send('42/smcp,9999["server:list_room",{"req_id":"l","office_id":"bench"}]');
    await agent.readUntil(isWaiting ? `43/smcp,${OPEN_AT_A_TIME - 1}[` : "43/smcp,9999[");
  }
}

const failures: string[] = [];

function report(what: string, value: number, unit: string, max?: number): void {
  const isOver = max !== undefined && value > max;
  if (isOver) failures.push(what);
  const target = max === undefined ? "" : ` (at most ${max}${isOver ? ", FAILED" : ""})`;
  console.log(`${what.padEnd(70)}${value.toFixed(1).padStart(8)} ${unit}${target}`);
}

async function measureDeaf(): Promise<void> {
  for (
    const [what, attack] of [["400 requests of 1 MB", flood], ["100,000 notifications", notify]] as const
  ) {
    await using control = await ServerProcess.start();
    await using server = await ServerProcess.start();
    const reading = await attack(control, { isDeaf: false });
    const deaf = await attack(server, { isDeaf: true });
    report(`${what} to a member that reads: peak`, reading, "MiB");
    report(`${what} to a member that does not: peak`, deaf, "MiB");
    report("what not reading costs", deaf - reading, "MiB", MAX_DEAF_MIB);
  }
}

/** Memory and processor time of the Server, some time after this number of requests. */
async function measureAfter(server: ServerProcess, options: { readonly isWaiting: boolean }) {
  const startMs = await cpuMsOf(server);
  await ask(server, { requests: REQUESTS, ...options });
  const workMs = await cpuMsOf(server) - startMs;
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  const idleMs = await cpuMsOf(server);
  await new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1_000));
  return {
    mib: await residentMib(server.pid),
    workMs,
    idleMs: (await cpuMsOf(server) - idleMs) / IDLE_SECONDS,
  };
}

async function measureLeft(): Promise<void> {
  await using control = await ServerProcess.start();
  const answering = await RawPeer.join({
    port: control.port,
    version: "0.2.0",
    role: "computer",
    name: "c",
    office: "bench",
  });
  answering.onRequest = (number) => answering.send(new OutgoingFrame(`43/smcp,${number}[{}]`));
  const answered = await measureAfter(control, { isWaiting: true });
  await answering[Symbol.asyncDispose]();
  await using server = await ServerProcess.start();
  using silent = await RawMember.join(server, { role: "computer", name: "c", office_id: "bench" });
  const reading = silent.untilClosed();
  const left = await measureAfter(server, { isWaiting: false });
  silent[Symbol.dispose]();
  await reading;
  for (const [what, { mib, workMs, idleMs }] of [["answered", answered], ["left behind", left]] as const) {
    report(`${REQUESTS} requests ${what}: processor time`, workMs, "ms");
    report("10 s later: memory", mib, "MiB");
    report("10 s later: processor time a second", idleMs, "ms");
  }
  report("what leaving them costs: memory", left.mib - answered.mib, "MiB", MAX_LEFT_MIB);
  report(
    "what leaving them costs: processor time a second",
    left.idleMs - answered.idleMs,
    "ms",
    MAX_LEFT_CPU_MS,
  );
}

await measureDeaf();
await measureLeft();
Deno.exit(failures.length === 0 ? 0 : 2);
