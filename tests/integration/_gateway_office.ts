/** An office with Computers in this process, and the gateway as a program with MCP clients that we did not write. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Computer } from "../../src/computer/computer.ts";
import { SmcpServer } from "../../src/server/server.ts";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { doorWords, type Program } from "../fixtures/door.ts";
import { linesOf } from "../fixtures/door_lines.ts";
import { hostedLine, openHosted } from "../fixtures/hosted_door.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { within } from "../fixtures/within.ts";

/** The Computers by name, each with its configuration. */
export type OfficeComputers = Readonly<Record<string, unknown>>;

/** A Server and Computers that have joined the office `lab`. */
export class GatewayOffice implements AsyncDisposable {
  readonly server: SmcpServer;
  readonly computers = new Map<string, Computer>();
  /** Between the gateway and the Server. */
  readonly wire: TcpProxy;
  readonly #all: AsyncDisposableStack;

  private constructor(server: SmcpServer, wire: TcpProxy, all: AsyncDisposableStack) {
    this.server = server;
    this.wire = wire;
    this.#all = all;
  }

  /** Opens everything and waits until each MCP server has started or failed to. */
  static async open(computers: OfficeComputers): Promise<GatewayOffice> {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await SmcpServer.listen({ port: 0 }));
    const wire = stack.use(new TcpProxy(server.port));
    const office = new GatewayOffice(server, wire, stack.move());
    try {
      for (const [name, config] of Object.entries(computers)) await office.add(name, config);
      return office;
    } catch (error) {
      await office[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Lets a Computer join. */
  async add(name: string, config: unknown): Promise<Computer> {
    const limits = { restartDelayMs: 50, viewDeadlineMs: 100_000 };
    const computer = this.#all.use(Computer.open({ name, config, logger: new LogBook(), limits }));
    this.computers.set(name, computer);
    await computer.join({ url: this.server.url, office: "lab" });
    await computer.ready();
    return computer;
  }

  /** The words that start the gateway. It answers when it knows the office, however busy the machine is. */
  words(args: readonly string[] = [], url = this.wire.url): string[] {
    return doorWords("agent.ts", this.#line(args, url));
  }

  /** The same as a process of its own, with the permissions that the documentation of `agent.ts` names. */
  processWords(args: readonly string[] = []): string[] {
    return doorWords("agent.ts", this.#line(args, this.wire.url), ["--allow-net", "--ignore-env"]);
  }

  #line(args: readonly string[], url: string): string[] {
    const connection = ["--url", url, "--office", "lab", "--name", "ada"];
    return ["mcp", ...connection, "--patience", "100s", ...args];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

/** The official client 1.x, connected to a program, which is hosted if it has all permissions. */
export async function connectV1(
  words: readonly string[],
  client: ClientV1 = new ClientV1({ name: "test-v1", version: "1" }),
): Promise<ClientV1 & AsyncDisposable> {
  return await connectTo(words, client, StdioV1);
}

/** The official client 2.x, connected to a program, which is hosted if it has all permissions. */
export async function connectV2(
  words: readonly string[],
  client: ClientV2,
): Promise<ClientV2 & AsyncDisposable> {
  return await connectTo(words, client, StdioV2);
}

async function connectTo<T extends ClientV1 | ClientV2>(
  words: readonly string[],
  client: T,
  Stdio: typeof StdioV1 | typeof StdioV2,
): Promise<T & AsyncDisposable> {
  const hosted = HostedStdio.of(words);
  if (hosted !== undefined) {
    await client.connect(hosted);
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
  }
  const [command = "", ...args] = words;
  const transport = new Stdio({ command, args, stderr: "ignore" });
  await client.connect(transport);
  // The transport's own `close()` leaves a timer behind.
  const end = async () => {
    const ended = new Promise<void>((resolve) => client.onclose = resolve);
    if (transport.pid !== null) Deno.kill(transport.pid, "SIGTERM");
    await within(ended, "the end of the program");
  };
  return Object.assign(client, { [Symbol.asyncDispose]: end });
}

/** What the transports of both official clients for stdio do, with a hosted Agent. */
class HostedStdio {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  readonly #program: Program;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  #ended: Promise<unknown> = Promise.resolve();

  private constructor({ door, args }: NonNullable<ReturnType<typeof hostedLine>>) {
    this.#program = openHosted(door, args);
    this.#input = this.#program.stdin.getWriter();
  }

  static of(words: readonly string[]): HostedStdio | undefined {
    const line = hostedLine(words);
    return line && new HostedStdio(line);
  }

  start(): Promise<void> {
    const { stdout, stderr, status } = this.#program;
    this.#ended = Promise.all([this.#read(stdout), stderr.pipeTo(new WritableStream()), status]);
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  async close(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#ended;
  }

  async #read(output: Program["stdout"]): Promise<void> {
    for await (const message of linesOf<JSONRPCMessage>(output)) this.onmessage?.(message);
    this.onclose?.();
  }
}
