/** An office of three real roles whose Agent keeps its views fresh by itself, and whose wire can be taken away. */
import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import type { ComputerLimits } from "../../src/config/limits.ts";
import { Computer } from "../../src/computer/computer.ts";
import type { ChainState } from "../fixtures/chain_control.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { within } from "../fixtures/within.ts";
import { SmcpServer } from "../../src/server/server.ts";
import type { ChainServer } from "./_chain_server.ts";

/**
 * Nothing grows old, and nobody is late, however busy the machine is: only what is told makes a difference. A server
 * that died starts again at once.
 */
const PATIENT: Partial<ComputerLimits> = {
  windowMaxAgeMs: 3_600_000,
  documentMaxAgeMs: 3_600_000,
  viewDeadlineMs: 100_000,
  readTimeoutMs: 100_000,
  restartDelayMs: 50,
};

/** What the Agent last saw of a Computer. */
export interface AgentView {
  readonly desktops: readonly string[];
  readonly titles: readonly string[];
}

/** What an office is made of, beside its Server, which can be another one later. */
interface OfficeParts {
  readonly computer: Computer;
  readonly agent: Agent;
  readonly log: LogBook;
  /** Between the Computer and the Server. */
  readonly computerWire: TcpProxy;
  /** Between the Agent and the Server. */
  readonly agentWire: TcpProxy;
  /** Closed after everything else. */
  readonly smcpServers: AsyncDisposableStack;
  /** Everything, closed in the opposite order, whatever fails in between. */
  readonly all: AsyncDisposableStack;
}

/** An office, and what its Agent saw. */
export class ChainOffice implements AsyncDisposable {
  readonly computer: Computer;
  readonly agent: Agent;
  /** The Computer as the Agent sees it. */
  readonly laptop: RemoteComputer;
  /** What the Computer wrote. */
  readonly log: LogBook;
  /** When each notification of a kind came to the Agent. */
  readonly notifiedAtMs: Readonly<Record<"desktop" | "finder", number[]>> = { desktop: [], finder: [] };
  #server: SmcpServer;
  readonly #parts: OfficeParts;
  #view: AgentView = { desktops: [], titles: [] };
  #waiting: { readonly test: (view: AgentView) => boolean; readonly resolve: () => void }[] = [];

  private constructor(server: SmcpServer, parts: OfficeParts) {
    this.#server = server;
    this.#parts = parts;
    this.computer = parts.computer;
    this.agent = parts.agent;
    this.log = parts.log;
    this.laptop = parts.agent.computer("laptop");
    const { agent, notifiedAtMs } = this;
    agent.on("updateDesktop", () => void notifiedAtMs.desktop.push(performance.now()));
    agent.on("updateFinder", () => void notifiedAtMs.finder.push(performance.now()));
    agent.on("desktopRefreshed", ({ desktops }) => this.#see({ desktops }));
    agent.on(
      "finderRefreshed",
      ({ documents }) => this.#see({ titles: documents.map(({ title }) => title) }),
    );
  }

  /** Opens everything; the Agent joins first, so that it hears of all that follows. */
  static async open(
    servers: Readonly<Record<string, ChainServer | Record<string, unknown>>>,
    limits: Partial<ComputerLimits> = {},
  ): Promise<ChainOffice> {
    await using stack = new AsyncDisposableStack();
    const log = new LogBook();
    const smcpServers = stack.use(new AsyncDisposableStack());
    const server = smcpServers.use(await SmcpServer.listen({ port: 0 }));
    const computerWire = stack.use(new TcpProxy(server.port));
    const agentWire = stack.use(new TcpProxy(server.port));
    const config = {
      servers: Object.fromEntries(
        Object.entries(servers).map(([name, each]) => [name, "config" in each ? each.config : each]),
      ),
    };
    const computer = stack.use(Computer.open({
      name: "laptop",
      config,
      logger: log,
      limits: { ...PATIENT, ...limits },
    }));
    const agent = stack.use(
      await Agent.connect({ url: agentWire.url, office: "lab", name: "ada", reconnectDelayMs: 50 }),
    );
    const parts = { computer, agent, log, computerWire, agentWire, smcpServers };
    const office = new ChainOffice(server, { ...parts, all: new AsyncDisposableStack() });
    await computer.join({ url: computerWire.url, office: "lab", reconnectDelayMs: 50 });
    office.#parts.all.use(stack.move());
    return office;
  }

  /** Resolves when a refreshed view of the Agent's is this. */
  async sees(state: Partial<ChainState>): Promise<void> {
    const { windows, documents } = state;
    await this.seesThat((view) =>
      (windows === undefined || isSame(view.desktops, desktopsOf(windows))) &&
      (documents === undefined || isSame(view.titles, Object.values(documents)))
    );
  }

  /** Resolves when something is true of what the Agent last saw. */
  seesThat(test: (view: AgentView) => boolean): Promise<void> {
    if (test(this.#view)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ test, resolve });
    return within(promise, () => `another view than ${JSON.stringify(this.#view)}; ${this.#warnings()}`);
  }

  /** The Agent sees this, would see nothing else if it asked, and has not seen anything else since. */
  async endsWith(state: ChainState): Promise<void> {
    await this.sees(state);
    assertEquals(await this.laptop.getDesktop(), desktopsOf(state.windows));
    const titles = (await this.laptop.getFinder()).documents.map(({ title }) => title);
    assertEquals(titles, Object.values(state.documents));
    assertEquals(this.#view, { desktops: desktopsOf(state.windows), titles });
  }

  /** Takes the Computer's connection away until {@linkcode restore}; resolves when the office knows. */
  async drop(): Promise<void> {
    const left = new Promise<void>((resolve) => {
      const unsubscribe = this.agent.on("leaveOffice", () => {
        unsubscribe();
        resolve();
      });
    });
    this.#parts.computerWire.interrupt();
    await within(left, "the office to know that the Computer is gone");
  }

  /** Lets the Computer connect again, on the same port. */
  restore(): void {
    this.#parts.computerWire.restore();
  }

  /** Takes the Server away, and with it everybody's connection; resolves when it is gone. */
  async closeServer(): Promise<void> {
    this.#parts.computerWire.interrupt();
    this.#parts.agentWire.interrupt();
    await this.#server.close();
  }

  /** A Server that knows nothing, on the same port as far as Agent and Computer can see. */
  async reopenServer(): Promise<void> {
    this.#server = this.#parts.smcpServers.use(await SmcpServer.listen({ port: 0 }));
    this.#parts.computerWire.restore(this.#server.port);
    this.#parts.agentWire.restore(this.#server.port);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.all.disposeAsync();
  }

  #warnings(): string {
    return `the Computer warned ${JSON.stringify(this.log.of("warn").slice(-10))}`;
  }

  #see(seen: Partial<AgentView>): void {
    this.#view = { ...this.#view, ...seen };
    this.#waiting = this.#waiting.filter(({ test, resolve }) => !test(this.#view) || resolve());
  }
}

function desktopsOf(windows: ChainState["windows"]): string[] {
  return Object.entries(windows).map(([uri, text]) => text === "" ? uri : `${uri}\n\n${text}`);
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, index) => each === right[index]);
}
