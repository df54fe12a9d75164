/** The Server, the connections to it, which the soak cuts, and the MCP server over HTTP. */
import { SmcpServer } from "../../src/server/server.ts";
import { HttpMcpServer } from "../../tests/fixtures/http_server.ts";
import { TcpProxy } from "../../tests/fixtures/tcp_proxy.ts";
import { HTTP_SLOT } from "./scenery.ts";

const HTTP_SCRIPT = {
  tools: ["echo", "sleep", "hang"].map((tool) => ({
    name: `${HTTP_SLOT}_${tool}`,
    inputSchema: { type: "object" },
  })),
  resources: [{ uri: `window://com.example.${HTTP_SLOT}/status`, name: "Status" }],
  contents: { [`window://com.example.${HTTP_SLOT}/status`]: "All is well" },
  hang: [`tools/call ${HTTP_SLOT}_hang`],
};

/** A Server behind two TCP proxies, one for the Computer and one for the Agent. */
export class Office implements AsyncDisposable {
  readonly computerWire: TcpProxy;
  readonly agentWire: TcpProxy;
  #server: SmcpServer;

  private constructor(server: SmcpServer) {
    this.#server = server;
    this.computerWire = new TcpProxy(server.port);
    this.agentWire = new TcpProxy(server.port);
  }

  static async open(): Promise<Office> {
    return new Office(await SmcpServer.listen({ port: 0 }));
  }

  /** Closes the Server and starts another one, to which the proxies connect from then on. */
  async restart(): Promise<void> {
    await this.#server.close();
    this.#server = await SmcpServer.listen({ port: 0 });
    this.computerWire.restore(this.#server.port);
    this.agentWire.restore(this.#server.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    await this.computerWire[Symbol.asyncDispose]();
    await this.agentWire[Symbol.asyncDispose]();
  }
}

/** An MCP server over Streamable HTTP that stops and starts again at the same address. */
export class HttpPlace implements AsyncDisposable {
  readonly #server = new HttpMcpServer("streamable", HTTP_SCRIPT);
  #isUp = true;

  get url(): string {
    return this.#server.url;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  takeAway(): void {
    this.#isUp = false;
    this.#server.goAway();
  }

  bringBack(): void {
    this.#isUp = true;
    this.#server.comeBack();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}
