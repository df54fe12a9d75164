/** MCP servers as processes that a test leads over a socket of its own. */
import { fromFileUrl } from "@std/path";
import {
  type ChainCommand,
  type ChainReport,
  type ChainStart,
  type ChainState,
  readLines,
} from "../fixtures/chain_control.ts";
import { within } from "../fixtures/within.ts";
import { interopPython, interopSkipReason } from "../interop/peer.ts";

/** How a server is written. */
export type ChainKind = "kit" | "sdk" | "python";

/** A kind of server, as the names of tests call it. */
export interface ChainKindOfServer {
  readonly kind: ChainKind;
  readonly what: string;
  readonly ignore: boolean;
}

/** The servers that are quick to start. */
export const DENO_KINDS: readonly ChainKindOfServer[] = [
  { kind: "kit", what: "a server made with the provider kit", ignore: false },
  { kind: "sdk", what: "a server written by hand on the SDK", ignore: false },
];

/** The servers in Python, each of which takes half a second to start: all their chains run in `tests/interop/`. */
export const PYTHON_KIND: ChainKindOfServer = {
  kind: "python",
  what: "a server written in Python",
  ignore: skipsPython(),
};

/** The servers that every chain must work with. */
export const CHAIN_KINDS: readonly ChainKindOfServer[] = [...DENO_KINDS, PYTHON_KIND];

function skipsPython(): boolean {
  const reason = interopSkipReason();
  if (reason !== undefined) console.log(`Skipping the chains of the Python server: ${reason}`);
  return reason !== undefined;
}

/** A server that a Computer starts, and a test leads. */
export class ChainServer implements AsyncDisposable {
  /** The requests that came to all processes of this server, by the names that `hold` takes. */
  readonly came: string[] = [];
  /** What the next process shows first. */
  start: ChainStart;
  readonly #kind: ChainKind;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #results = new Map<number, (result: unknown) => void>();
  readonly #serving: Promise<void>;
  #waiting: { readonly test: () => boolean; readonly resolve: () => void }[] = [];
  #connection: Deno.TcpConn | undefined;
  #lastId = 0;

  constructor(kind: ChainKind, start: Partial<ChainStart> = {}) {
    this.#kind = kind;
    this.start = { windows: {}, documents: {}, hold: [], ...start };
    this.#serving = this.#serve();
  }

  /** The entry of a Computer's configuration. */
  get config(): Record<string, unknown> {
    const [command, ...args] = commandOf(this.#kind);
    const server_parameters = { command, args: [...args, String(this.#listener.addr.port)] };
    return { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters };
  }

  /** Shows this from now on, and tells the Computer what changed; so does every later process. */
  async become(state: Partial<ChainState>): Promise<void> {
    this.start = { ...this.start, ...state };
    const { windows, documents } = this.start;
    await this.command({ command: "become", windows, documents });
  }

  /** Asks something of the running process. */
  async command(command: ChainCommand): Promise<unknown> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#results.set(id, resolve);
    await this.#write({ id, ...command });
    return await within(promise, () => `the result of "${command.command}"; ${this.#history()}`);
  }

  async hold(...requests: readonly string[]): Promise<void> {
    await this.command({ command: "hold", requests });
  }

  async answer(...requests: readonly string[]): Promise<void> {
    await this.command({ command: "answer", requests });
  }

  /** How often a request has come by now; whatever was answered before has been counted. */
  async count(request: string): Promise<number> {
    await this.command({ command: "sync" });
    return this.came.filter((each) => each === request).length;
  }

  /** Resolves when a request has come so often. */
  until(request: string, count = 1): Promise<void> {
    const hasCome = () => this.came.filter((each) => each === request).length >= count;
    return this.when(hasCome, `"${request}" to come ${count} times`);
  }

  /** Resolves when something is true of what came. */
  when(test: () => boolean, what = "a request"): Promise<void> {
    if (test()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ test, resolve });
    return within(promise, () => `${what}; ${this.#history()}`);
  }

  #history(): string {
    return `what came is ${JSON.stringify(this.came)}`;
  }

  /** Ends the process; the Computer starts another one, which shows and holds this. */
  async die(next: Partial<ChainStart> = {}): Promise<void> {
    this.start = { ...this.start, ...next };
    await this.#write({ id: 0, command: "die" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    close(this.#listener);
    close(this.#connection);
    await this.#serving;
  }

  async #serve(): Promise<void> {
    for await (const connection of this.#listener) {
      this.#connection = connection;
      await this.#write(this.start);
      try {
        for await (const line of readLines(connection.readable)) this.#receive(JSON.parse(line));
      } catch {
        // The process ended, or the test.
      }
      close(connection);
    }
  }

  #receive(report: ChainReport): void {
    if ("id" in report) {
      this.#results.get(report.id)?.(report.result);
      this.#results.delete(report.id);
      return;
    }
    this.came.push(report.came);
    this.#waiting = this.#waiting.filter(({ test, resolve }) => !test() || resolve());
  }

  async #write(value: unknown): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) throw new TypeError("Cannot lead the MCP server: it was never started");
    const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  }
}

function commandOf(kind: ChainKind): string[] {
  const file = (name: string) => fromFileUrl(new URL(`../fixtures/${name}`, import.meta.url));
  const deno = [Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "--quiet"];
  switch (kind) {
    case "kit":
      return [...deno, file("chain_kit_server.ts")];
    case "sdk":
      return [...deno, file("chain_sdk_server.ts")];
    case "python":
      return [interopPython() ?? "python3", file("chain_python_server.py")];
  }
}

function close(closable: Disposable | undefined): void {
  try {
    closable?.[Symbol.dispose]();
  } catch {
    // Closed already.
  }
}
