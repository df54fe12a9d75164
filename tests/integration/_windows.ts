/** Windows of an MCP client on one machine: each starts the gateway as a program of its own, for one office. */
import { SmcpServer } from "../../src/server/server.ts";
import { isRecord } from "../../src/json/json.ts";
import { readLines } from "../../src/async/lines.ts";
import { doorWords } from "../fixtures/door.ts";
import { within } from "../fixtures/within.ts";
import { type Answer, NOTHING, ScriptedComputer, textResult } from "./_scripted_computer.ts";

const tool = (name: string) => ({
  name,
  description: "",
  params_schema: { type: "object" },
  return_schema: null,
  meta: {},
});

/** A Server, and a Computer whose `echo` answers at once and whose `hold` does so after `release()`. */
export class WindowOffice implements AsyncDisposable {
  readonly server: SmcpServer;
  readonly computer: ScriptedComputer;
  /** Where the programs connect; the Server itself by default. */
  url: string;
  /** The private folder of the user. */
  readonly folder = Deno.makeTempDirSync();
  readonly #all: AsyncDisposableStack;
  readonly #released = Promise.withResolvers<void>();

  private constructor(server: SmcpServer, computer: ScriptedComputer, all: AsyncDisposableStack) {
    this.server = server;
    this.url = server.url;
    this.computer = computer;
    this.#all = all;
  }

  static async open(): Promise<WindowOffice> {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await SmcpServer.listen({ port: 0 }));
    const computer = stack.use(await ScriptedComputer.join(server.url));
    const office = new WindowOffice(server, computer, stack.move());
    Object.assign(computer.answers, office.#answers());
    office.#all.defer(() => Deno.remove(office.folder, { recursive: true }));
    return office;
  }

  #answers(): Record<string, Answer> {
    return {
      "client:get_tools": ({ req_id }) => ({ tools: [tool("echo"), tool("hold")], req_id }),
      "client:get_mcp_servers": ({ req_id }) => ({ mcp_servers: [], req_id }),
      "client:follow_call": () => NOTHING,
      "client:open_input": () => NOTHING,
      "client:get_desktop": ({ req_id }) => ({ desktops: ["window://a.b/c\n\nhello"], req_id }),
      "client:get_windows": () => NOTHING,
      "client:tool_call": ({ tool_name, params }) => {
        const result = textResult(JSON.stringify(params));
        return tool_name === "echo" ? result : this.#released.promise.then(() => result);
      },
    };
  }

  /** Lets the calls of `hold` end. */
  release(): void {
    this.#released.resolve();
  }

  /** Who is in the Agent's seat. */
  async seated(): Promise<string[]> {
    const answer = await this.computer.send("server:list_room", {
      agent: "laptop",
      req_id: crypto.randomUUID(),
      office_id: "lab",
    });
    const sessions = isRecord(answer) && Array.isArray(answer["sessions"]) ? answer["sessions"] : [];
    return sessions.filter(({ role }) => role === "agent").map(({ name }) => String(name));
  }

  /** The calls of a tool that the Computer has received: their arguments. */
  ran(name: string): unknown[] {
    return this.computer.requests
      .filter(({ event, body }) => event === "client:tool_call" && body["tool_name"] === name)
      .map(({ body }) => body["params"]);
  }

  /** What stands before the options of a command. */
  connection(name = "ada"): string[] {
    return ["--url", this.url, "--office", "lab", "--name", name];
  }

  get env(): Record<string, string> {
    return { XDG_STATE_HOME: this.folder, XDG_RUNTIME_DIR: this.folder };
  }

  /** Starts a window, and initializes its session. */
  async client(name = "Claude", args: readonly string[] = []): Promise<ClientWindow> {
    const client = new ClientWindow(this, args);
    try {
      await client.initialize(name);
      return client;
    } catch (error) {
      await client[Symbol.asyncDispose]();
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

/** What a request was answered: once, or the window ended first. */
export interface Answered {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

export interface CallOutcome {
  readonly isError: boolean;
  readonly text: string;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** The window ended, and its request has no answer. */
export class WindowClosedError extends Error {
  override readonly name = "WindowClosedError";
}

/** One window: a client that speaks bare JSON-RPC, so that it sees each answer. */
export class ClientWindow implements AsyncDisposable {
  /** The ids of answers that came a second time. */
  readonly twice: unknown[] = [];
  /** What the gateway wrote on stderr. */
  log = "";
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #open = new Map<number, PromiseWithResolvers<Answered>>();
  readonly #answered = new Set<number>();
  readonly #ended: Promise<void>;
  #lastId = 0;
  #isOver = false;

  constructor(office: WindowOffice, args: readonly string[]) {
    const mcp = ["mcp", ...office.connection(), "--patience", "60s", ...args];
    const [command = "", ...words] = doorWords("agent.ts", mcp);
    const streams = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    this.#process = new Deno.Command(command, { args: words, env: office.env, ...streams }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#ended = Promise.all([this.#read(), this.#readLog(), this.#process.status]).then(() => this.#end());
  }

  async initialize(name: string): Promise<void> {
    const clientInfo = { name, version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    await within(this.request("initialize", params), () => `the session of a window: ${this.log}`);
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** Sends a request; rejects with a {@linkcode WindowClosedError} when the window ends first. */
  request(method: string, params: unknown = {}): Promise<Answered> {
    const id = ++this.#lastId;
    const answered = Promise.withResolvers<Answered>();
    this.#open.set(id, answered);
    if (this.#isOver) this.#end();
    else this.#send({ jsonrpc: "2.0", id, method, params });
    return within(answered.promise, () => `the answer to "${method}": ${this.log}`);
  }

  /** Calls a tool; resolves to whether it failed, and its text. */
  async call(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<CallOutcome> {
    const { result, error } = await this.request("tools/call", { name, arguments: args });
    const content = Array.isArray(result?.["content"]) ? result["content"] : [];
    const text = content.map(({ text }) => text).join("\n") || JSON.stringify(error);
    return { isError: result?.["isError"] === true || error !== undefined, text };
  }

  /** Does nothing when the window has ended. */
  signal(name: Deno.Signal): void {
    try {
      this.#process.kill(name);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Closes the window as its user does. */
  async close(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
    await within(this.#ended, () => `the end of a window: ${this.log}`);
  }

  /** Resolves when the window has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) {
      // One that a test has stopped ends all the same.
      for (const name of ["SIGTERM", "SIGCONT"] as const) this.signal(name);
    }
    await this.close();
  }

  #send(message: unknown): void {
    this.#writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)).catch(() => undefined);
  }

  async #read(): Promise<void> {
    for await (const line of readLines(this.#process.stdout, MAX_LINE_BYTES)) {
      const message: unknown = JSON.parse(line);
      if (!isRecord(message) || typeof message["id"] !== "number" || "method" in message) continue;
      const { id } = message;
      if (this.#answered.has(id)) this.twice.push(id);
      this.#answered.add(id);
      this.#open.get(id)?.resolve(message);
      this.#open.delete(id);
    }
  }

  async #readLog(): Promise<void> {
    for await (const line of readLines(this.#process.stderr, MAX_LINE_BYTES)) this.log += `${line}\n`;
  }

  #end(): void {
    this.#isOver = true;
    for (const { promise, reject } of this.#open.values()) {
      promise.catch(() => undefined);
      reject(new WindowClosedError("The window ended before the answer"));
    }
    this.#open.clear();
  }
}
