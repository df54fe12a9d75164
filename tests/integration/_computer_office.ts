/** An office with a Server, a Computer and an Agent, all real, for tests of the Computer. */
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEventName, AgentEventOf } from "../../src/agent/events.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import { Computer } from "../../src/computer/computer.ts";
import type { ComputerOptions } from "../../src/computer/options.ts";
import { SmcpServer } from "../../src/server/server.ts";
import type { SmcpServerOptions } from "../../src/server/options/settings.ts";
import { LogBook } from "../fixtures/log_book.ts";
import type { Change } from "../fixtures/script.ts";
import { within } from "../fixtures/within.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";

/** A view then waits for everything, however busy the machine is; a test of late servers sets its own limits. */
const PATIENT = { restartDelayMs: 50, viewDeadlineMs: 100_000 };

/** How to open an office. */
export interface OfficeOptions extends Partial<Omit<ComputerOptions, "config">> {
  readonly server?: SmcpServerOptions;
}

export class ComputerOffice implements AsyncDisposable {
  readonly server: SmcpServer;
  readonly computer: Computer;
  readonly agent: Agent;
  /** The Computer as the Agent sees it. */
  readonly laptop: RemoteComputer;
  /** What the Computer wrote. */
  readonly log: LogBook;
  /** Between the Computer and the Server. */
  readonly wire: TcpProxy;
  /** Everything, closed in the opposite order, whatever fails in between. */
  readonly #all: AsyncDisposableStack;

  private constructor(
    parts: { server: SmcpServer; computer: Computer; agent: Agent; log: LogBook; wire: TcpProxy },
    all: AsyncDisposableStack,
  ) {
    this.wire = parts.wire;
    this.#all = all;
    this.server = parts.server;
    this.computer = parts.computer;
    this.agent = parts.agent;
    this.log = parts.log;
    this.laptop = parts.agent.computer("laptop");
  }

  /** Opens everything and waits until each MCP server has started or failed to. */
  static async open(config: unknown, options: OfficeOptions = {}): Promise<ComputerOffice> {
    const { server: serverOptions, limits, ...computerOptions } = options;
    const log = new LogBook();
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await SmcpServer.listen({ ...serverOptions, port: 0 }));
    const wire = stack.use(new TcpProxy(server.port));
    const computer = stack.use(Computer.open({
      name: "laptop",
      config,
      logger: log,
      ...computerOptions,
      limits: { ...PATIENT, ...limits },
    }));
    await computer.join({ url: wire.url, office: "lab" });
    const agent = stack.use(await Agent.connect({ url: server.url, office: "lab", name: "ada" }));
    await computer.ready();
    // Events keep their order on a connection: after this answer no notification of the start is still on its way.
    await agent.computer("laptop").getTools();
    return new ComputerOffice({ server, computer, agent, log, wire }, stack.move());
  }

  /** Cuts the Computer's connection; it comes back. */
  cut(): void {
    this.wire.cut();
  }

  /** The next event of one name that the Agent hears. */
  next<Name extends AgentEventName>(type: Name): Promise<AgentEventOf<Name>> {
    const { promise, resolve } = Promise.withResolvers<AgentEventOf<Name>>();
    const unsubscribe = this.agent.on(type, (event) => {
      unsubscribe();
      resolve(event);
    });
    return within(promise, `the event "${type}"`);
  }

  /** Changes what the only, or the named, scripted server does; resolves when it has told of it. */
  async become(change: Change, tool = "become"): Promise<void> {
    await this.laptop.callTool(tool, { ...change });
  }

  /** What a scripted server received so far: method and params. */
  async received(
    tool = "received",
    laptop = this.laptop,
  ): Promise<{ method: string; params?: Record<string, unknown> }[]> {
    const { content } = await laptop.callTool(tool);
    return JSON.parse(content[0]?.text ?? "[]");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}
