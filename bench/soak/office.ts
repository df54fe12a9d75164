/** The Server and the wires to it, which the soak breaks now and then, and the MCP server over HTTP. */
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

/** A Server behind two wires, one for the Computer and one for the Agent. */
export class Office implements AsyncDisposable {
  readonly #port: number;
  readonly computerWire: TcpProxy;
  readonly agentWire: TcpProxy;
  #server: SmcpServer;

  private constructor(server: SmcpServer) {
    this.#server = server;
    this.#port = server.port;
    this.computerWire = new TcpProxy(server.port);
    this.agentWire = new TcpProxy(server.port);
  }

  static async open(): Promise<Office> {
    return new Office(await SmcpServer.listen({ port: 0 }));
  }

  /** Ends the Server and starts another in its place. */
  async restart(): Promise<void> {
    await this.#server.close();
    this.#server = await SmcpServer.listen({ port: this.#port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    await this.computerWire[Symbol.asyncDispose]();
    await this.agentWire[Symbol.asyncDispose]();
  }
}

/** An MCP server over Streamable HTTP that goes away and comes back at the same address. */
export class HttpPlace implements AsyncDisposable {
  #server: HttpMcpServer | undefined = new HttpMcpServer("streamable", HTTP_SCRIPT);
  readonly url: string;
  readonly #port: number;

  constructor() {
    const { url, port } = this.#server ?? { url: "", port: 0 };
    this.url = url;
    this.#port = port;
  }

  get isUp(): boolean {
    return this.#server !== undefined;
  }

  async takeAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.[Symbol.asyncDispose]();
  }

  bringBack(): void {
    this.#server ??= new HttpMcpServer("streamable", HTTP_SCRIPT, { port: this.#port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.takeAway();
  }
}
