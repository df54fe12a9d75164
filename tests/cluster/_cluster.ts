/** Processes of a Server behind a balancer, each with a wire to Redis that can be cut. */
import { Balancer } from "../fixtures/balancer.ts";
import { RedisCluster } from "../fixtures/redis_cluster.ts";
import type { RedisServer } from "../fixtures/redis_server.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { eventually, within } from "../fixtures/within.ts";
import { Ledger, Member } from "./_members.ts";

const program = new URL("./_server.ts", import.meta.url).href;
let prefixes = 0;

/** A process of the Server. */
class ServerProcess implements AsyncDisposable {
  readonly port: number;
  /** Its wire to Redis. The nodes of a cluster, which name their addresses, are reached without it. */
  readonly redis: TcpProxy;
  readonly #process: Deno.ChildProcess;
  #isFrozen = false;

  private constructor(
    process: Deno.ChildProcess,
    { port, redis }: { readonly port: number; readonly redis: TcpProxy },
  ) {
    this.#process = process;
    this.port = port;
    this.redis = redis;
  }

  static async start(server: RedisServer | RedisCluster, times: readonly string[]): Promise<ServerProcess> {
    const isCluster = server instanceof RedisCluster;
    const redis = new TcpProxy(isCluster ? 0 : server.port);
    const process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-check",
        "--allow-net",
        "--ignore-env",
        program,
        isCluster ? server.url : `redis://127.0.0.1:${redis.port}`,
        ...times,
      ],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const port = await within(readPort(process.stdout), "the port of a Server");
    return new ServerProcess(process, { port, redis });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  freeze(): void {
    this.#process.kill("SIGSTOP");
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#process.kill("SIGCONT");
    this.#isFrozen = false;
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isFrozen) this.thaw();
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // Killed already.
    }
    await this.#process.status;
    await this.redis[Symbol.asyncDispose]();
  }
}

async function readPort(stdout: ReadableStream<Uint8Array>): Promise<number> {
  let text = "";
  for await (const chunk of stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, port] = /listening on (\d+)\n/.exec(text) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new TypeError(`Cannot read the port of a Server: it printed "${text}"`);
}

/** All of it. */
export class Cluster implements AsyncDisposable {
  readonly processes: readonly ServerProcess[];
  readonly balancer: Balancer;
  readonly #members: Member[] = [];
  readonly #ledgers = new Map<string, Ledger>();

  private constructor(processes: readonly ServerProcess[]) {
    this.processes = processes;
    this.balancer = new Balancer(processes.map(({ port }) => port));
  }

  static async start(
    redis: RedisServer | RedisCluster,
    { heartbeatMs, leaseMs }: { readonly heartbeatMs: number; readonly leaseMs: number },
    count = 3,
  ): Promise<Cluster> {
    const args = [String(heartbeatMs), String(leaseMs), `f${prefixes++}`];
    return new Cluster(
      await Promise.all(Array.from({ length: count }, () => ServerProcess.start(redis, args))),
    );
  }

  process(index: number): ServerProcess {
    const found = this.processes[index % this.processes.length];
    if (found === undefined) throw new RangeError(`Cannot find process ${index}`);
    return found;
  }

  ledger(office: string): Ledger {
    const ledger = this.#ledgers.get(office) ?? new Ledger();
    this.#ledgers.set(office, ledger);
    return ledger;
  }

  /** Adds a member: on a process, or where the balancer sends it. */
  add(role: "agent" | "computer", [office, name]: readonly [office: string, name: string], options: {
    readonly on?: number;
    readonly transport?: "websocket" | "polling";
    readonly session?: string;
  } = {}): Member {
    const { on, ...rest } = options;
    const url = on === undefined ? this.balancer.url : this.process(on).url;
    const member = new Member({ role, office, name, url, ledger: this.ledger(office), ...rest });
    this.#members.push(member);
    return member;
  }

  /** Anything that must not have happened. */
  violations(): readonly string[] {
    return [...this.#ledgers].flatMap(([office, { violations }]) =>
      violations.map((what) => `${office}: ${what}`)
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.processes) process.redis.restore();
    await Promise.all(this.#members.map((member) => member[Symbol.asyncDispose]()));
    await this.balancer[Symbol.asyncDispose]();
    await Promise.all(this.processes.map((process) => process[Symbol.asyncDispose]()));
  }
}

/** An Agent that calls its Computers in turn until it is stopped. */
export class Load implements AsyncDisposable {
  readonly agent: Member;
  readonly #computers: readonly string[];
  readonly #running: Promise<void>;
  /** The number of answers of each Computer. */
  readonly answers = new Map<string, number>();
  /** The number of errors. */
  refused = 0;
  #isStopped = false;

  constructor(agent: Member, computers: readonly string[]) {
    this.agent = agent;
    this.#computers = computers;
    this.#running = this.#run();
  }

  /** Waits for so many further answers of each of its Computers, or of those that are given. */
  async progress(count: number, computers: readonly string[] = this.#computers): Promise<void> {
    const before = new Map(this.answers);
    const left = () =>
      computers.filter((name) => (this.answers.get(name) ?? 0) - (before.get(name) ?? 0) < count);
    const what = `${count} answers to "${this.agent.name}" in "${this.agent.office}" (${this.agent.refusal})`;
    await eventually(left, (names) => names.length === 0, what);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let number = 0; !this.#isStopped; number++) {
      await Promise.all(
        this.#computers.map((computer) => this.#call(computer, `${this.agent.name}-${number}`)),
      );
    }
  }

  async #call(computer: string, id: string): Promise<void> {
    const outcome = await this.agent.call(computer, `${id}-${computer}`);
    if (outcome === "answered") return void this.answers.set(computer, (this.answers.get(computer) ?? 0) + 1);
    if (outcome === "refused") this.refused++;
    // Not again in the same moment: whatever is missing stays so for a while.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
