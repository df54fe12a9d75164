/** An office of three real roles whose Agent keeps its views fresh by itself, and whose wire can be taken away. */
import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import type { ComputerLimits } from "../../src/computer/options.ts";
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
  /** Between the Computer and the Server. */
  #wire: TcpProxy;
  #view: AgentView = { desktops: [], titles: [] };
  #waiting: { readonly test: (view: AgentView) => boolean; readonly resolve: () => void }[] = [];

  private constructor(
    parts: { server: SmcpServer; computer: Computer; agent: Agent; log: LogBook; wire: TcpProxy },
  ) {
    this.#server = parts.server;
    this.#wire = parts.wire;
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

  /** Opens everything; the Agent first, so that it hears of all that follows. */
  static async open(
    servers: Readonly<Record<string, ChainServer | Record<string, unknown>>>,
    limits: Partial<ComputerLimits> = {},
  ): Promise<ChainOffice> {
    const log = new LogBook();
    const server = await SmcpServer.listen({ port: 0 });
    const agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
    const wire = new TcpProxy(server.port);
    const config = {
      servers: Object.fromEntries(
        Object.entries(servers).map(([name, each]) => [name, "config" in each ? each.config : each]),
      ),
    };
    const computer = Computer.open({
      name: "laptop",
      config,
      logger: log,
      limits: { ...PATIENT, ...limits },
    });
    const office = new ChainOffice({ server, computer, agent, log, wire });
    await computer.join({ url: wire.url, office: "lab" });
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
    await this.#wire[Symbol.asyncDispose]();
    await within(left, "the office to know that the Computer is gone");
  }

  /** Lets the Computer connect again, on the same port. */
  restore(): void {
    this.#wire = new TcpProxy(this.#server.port, this.#wire.port);
  }

  /** Takes the Server away, and with it everybody's connection; resolves when it is gone. */
  async closeServer(): Promise<void> {
    await this.#wire[Symbol.asyncDispose]();
    await this.#server.close();
  }

  /** A Server that knows nothing, on the same port. */
  async reopenServer(): Promise<void> {
    this.#server = await SmcpServer.listen({ port: this.#server.port });
    this.restore();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent.close();
    await this.computer.close();
    await this.#wire[Symbol.asyncDispose]();
    await this.#server.close();
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
