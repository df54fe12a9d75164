/**
 * Which files of `src/server/` a relayed call, or a notification, passes: those with a function that ran more often after one
 * of them than before. The numbers are those of the coverage that V8 counts.
 *
 * ```sh
 * deno run -A bench/server_files.ts [call|notification]
 * ```
 */
import { io, type Socket } from "socket.io-client";
import { ourProgram } from "./relay/servers.ts";

const WARM_UP = 5;
/** The characters of the text in the request and in the answer of a call. */
const TEXT = "x".repeat(200);

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** The inspector of a process. */
class Inspector implements Disposable {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (result: { readonly result?: readonly ScriptCoverage[] }) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const { id, result = {} } = JSON.parse(data);
      this.#answers.get(id)?.(result);
    };
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.onopen = resolve);
    const inspector = new Inspector(socket);
    await inspector.#send("Profiler.enable");
    await inspector.#send("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    return inspector;
  }

  /** Returns the files with a function that ran since the last time, and how many of each. */
  async takeFiles(): Promise<ReadonlyMap<string, number>> {
    const { result = [] } = await this.#send("Profiler.takePreciseCoverage");
    const files = new Map<string, number>();
    for (const { url, functions } of result) {
      const [, file] = url.split("/src/server/");
      const count = functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0).length;
      if (file !== undefined && count > 0) files.set(file, count);
    }
    return files;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #send(method: string, params: object = {}): Promise<{ readonly result?: readonly ScriptCoverage[] }> {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }
}

/** Reads until the output matches, and lets the rest pass. */
async function find(output: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const piece of output.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })) {
    text += piece;
    const [, found] = pattern.exec(text) ?? [];
    if (found !== undefined) return found;
  }
  throw new TypeError(`Cannot find "${pattern}" in the output: ${text}`);
}

async function join(url: string, role: "agent" | "computer"): Promise<Socket> {
  const socket = io(`${url}/smcp`, { query: { a2c_version: "0.2.0" }, transports: ["websocket"] });
  await new Promise((resolve) => socket.on("connect", () => resolve(undefined)));
  await socket.emitWithAck("server:join_office", { role, name: role, office_id: "lab" });
  return socket;
}

/** The two ways through the Server. Each function resolves when its message has arrived. */
function waysOf(agent: Socket, computer: Socket): Readonly<Record<string, () => Promise<unknown>>> {
  computer.on("client:tool_call", (_request, ack) => ack({ content: [{ type: "text", text: TEXT }] }));
  let number = 0;
  const ids = { agent: "agent", computer: "computer" };
  return {
    call: () =>
      agent.emitWithAck("client:tool_call", {
        ...ids,
        req_id: `${++number}`,
        tool_name: "t",
        params: { TEXT },
      }),
    notification() {
      const told = new Promise((resolve) => agent.once("notify:update_tool_list", resolve));
      computer.emit("server:update_tool_list", { computer: "computer" });
      return told;
    },
  };
}

const { command, args: [run = "", ...args] } = ourProgram();
// It would also hide where the inspector listens.
const loud = args.filter((arg) => arg !== "--quiet");
const process = new Deno.Command(command, {
  args: [run, "--inspect=127.0.0.1:0", ...loud],
  stdout: "piped",
  stderr: "piped",
}).spawn();
try {
  const [url, inspected] = await Promise.all([
    find(process.stdout, /(http:\S+)/),
    find(process.stderr, /(ws:\S+)/),
  ]);
  using inspector = await Inspector.open(inspected);
  const [computer, agent] = [await join(url, "computer"), await join(url, "agent")];
  for (const [name, send] of Object.entries(waysOf(agent, computer))) {
    if (!(Deno.args[0] ?? name).includes(name)) continue;
    for (let round = 0; round < WARM_UP; round++) await send();
    await inspector.takeFiles();
    await send();
    const files = await inspector.takeFiles();
    console.log(`A ${name} runs code of ${files.size} files of src/server/:`);
    for (const [file, count] of [...files].sort()) console.log(`  ${file} (${count})`);
  }
  agent.close();
  computer.close();
} finally {
  process.kill("SIGKILL");
}
Deno.exit(0);
