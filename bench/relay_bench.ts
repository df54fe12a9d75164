/**
 * The relay, Agent → Server → Computer → back with 32 requests in flight and payloads of 300 bytes, against a bare
 * Socket.IO forwarder of ten lines. Both run as processes of their own under the same load, in alternating rounds.
 *
 * ```sh
 * deno bench -A bench/relay_bench.ts   # the comparison of deno bench
 * deno run -A bench/relay_bench.ts     # calls/s and the ratio, exit code 1 below 0.85
 * ```
 */
import { readPort } from "./fixtures/read_port.ts";
import { RawPeer } from "./relay/raw_peer.ts";

const IN_FLIGHT = 32;
/** Short rounds, many of them: whatever else the machine does then hits both alike. */
const CALLS_PER_ROUND = 1_600;
const ROUNDS = 51;
const WARM_UP_CALLS = 16_000;
const TARGET_RATIO = 0.85;

const payload = "x".repeat(300);
const answer = JSON.stringify({ content: [{ type: "text", text: payload }], isError: false });

/** A Server process with one Agent and one Computer on it. */
class Rig implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #agent: RawPeer;
  readonly #computer: RawPeer;
  #calls = 0;

  private constructor(process: Deno.ChildProcess, peers: { agent: RawPeer; computer: RawPeer }) {
    this.#process = process;
    this.#agent = peers.agent;
    this.#computer = peers.computer;
  }

  static async start(module: string, args: readonly string[] = []): Promise<Rig> {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", new URL(module, import.meta.url).href, ...args],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const port = await readPort(process.stdout);
    const computer = await RawPeer.computer(port, answer);
    return new Rig(process, { agent: await RawPeer.agent(port), computer });
  }

  /** Makes so many calls, 32 in flight, and gives the calls per second. */
  async run(calls: number): Promise<number> {
    const startMs = performance.now();
    let left = calls;
    const caller = async () => {
      while (left-- > 0) await this.#agent.request("client:tool_call", this.#nextBody());
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
    return calls / ((performance.now() - startMs) / 1000);
  }

  #nextBody(): string {
    const call = `"agent":"a","req_id":"r${this.#calls++}","computer":"c","tool_name":"echo","timeout":30`;
    return `{${call},"params":{"text":"${payload}"}}`;
  }

  kill(): void {
    this.#process.kill("SIGTERM");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent[Symbol.asyncDispose]();
    await this.#computer[Symbol.asyncDispose]();
    this.kill();
    await this.#process.stdout.cancel();
    await this.#process.status;
  }
}

async function compare(smcp: Rig, bare: Rig): Promise<number> {
  const ratios: number[] = [];
  const speeds = { smcp: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? (["bare", "smcp"] as const) : (["smcp", "bare"] as const);
    const speed = { smcp: 0, bare: 0 };
    for (const name of order) speed[name] = await (name === "smcp" ? smcp : bare).run(CALLS_PER_ROUND);
    speeds.smcp.push(speed.smcp);
    speeds.bare.push(speed.bare);
    ratios.push(speed.smcp / speed.bare);
  }
  const ratio = median(ratios);
  console.log(`bare forwarder  ${median(speeds.bare).toFixed(0)} calls/s`);
  console.log(`our Server      ${median(speeds.smcp).toFixed(0)} calls/s`);
  console.log(`ratio           ${ratio.toFixed(3)} (median of ${ROUNDS} rounds, target ${TARGET_RATIO})`);
  return ratio;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

const smcp = await Rig.start("../server.ts", ["--port", "0", "--log-level", "error"]);
const bare = await Rig.start("./relay/bare_forwarder.ts");
await smcp.run(WARM_UP_CALLS);
await bare.run(WARM_UP_CALLS);
const ratio = await compare(smcp, bare);

if (import.meta.main) {
  await smcp[Symbol.asyncDispose]();
  await bare[Symbol.asyncDispose]();
  Deno.exit(ratio < TARGET_RATIO ? 1 : 0);
}

const group = `${CALLS_PER_ROUND} relayed calls, ${IN_FLIGHT} in flight`;
Deno.bench({
  name: "bare forwarder",
  group,
  baseline: true,
  fn: async () => void await bare.run(CALLS_PER_ROUND),
});
Deno.bench({ name: "our Server", group, fn: async () => void await smcp.run(CALLS_PER_ROUND) });
// deno bench has no hook after the last benchmark; the two Servers end with this process.
globalThis.addEventListener("unload", () => {
  smcp.kill();
  bare.kill();
});
