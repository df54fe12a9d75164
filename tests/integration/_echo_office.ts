/** An Agent and a Computer at work at a Server, beside which something bad is tried. */
import { assertEquals } from "@std/assert";
import { SmcpServer, type SmcpServerOptions } from "../../server.ts";
import { RawPeer, RecordingLogger } from "./_socket.ts";

export const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
export const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
export const request = { agent: "ada", req_id: "r1", computer: "laptop" };

/** An office whose Computer answers `client:echo` with the request. */
export class EchoOffice implements AsyncDisposable {
  readonly logger: RecordingLogger;
  readonly server: SmcpServer;
  readonly agent: RawPeer;
  readonly computer: RawPeer;
  readonly #all: AsyncDisposableStack;

  private constructor(
    parts: Pick<EchoOffice, "logger" | "server" | "agent" | "computer">,
    all: AsyncDisposableStack,
  ) {
    this.logger = parts.logger;
    this.server = parts.server;
    this.agent = parts.agent;
    this.computer = parts.computer;
    this.#all = all;
    this.computer.serve("client:echo", (body) => [body]);
  }

  static async open(options: Omit<SmcpServerOptions, "logger"> = {}): Promise<EchoOffice> {
    await using stack = new AsyncDisposableStack();
    const logger = new RecordingLogger();
    const server = stack.use(await SmcpServer.listen({ port: 0, ...options, logger }));
    const agent = stack.use(await RawPeer.join(server.url, ada));
    const computer = stack.use(await RawPeer.join(server.url, laptop));
    return new EchoOffice({ logger, server, agent, computer }, stack.move());
  }

  /** Everything else goes on. */
  async assertAlive(): Promise<void> {
    assertEquals(await this.agent.request("client:echo", request), [request]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}
