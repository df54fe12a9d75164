/** One cell while it runs: its Server, its Computer and its Agent, as the steps use them. */
import { SmcpServer } from "../../../server.ts";
import type { ProtocolMinor } from "../../../src/protocol/version.ts";
import { fields } from "../_office.ts";
import { PythonPeer } from "../peer.ts";
import type { PeerProcess } from "../peer_process.ts";
import { startRustPeer } from "../rust_peer.ts";
import type { Cell, RoleName, Sdk } from "./cells.ts";
import { type McpServers, startMcpServers } from "./mcp_servers.ts";
import { connectOwnAgent, openOwnComputer } from "./own_roles.ts";
import { type Folders, makeFolders, type Role } from "./role.ts";

const OFFICE = "lab";
const COMPUTER = "laptop";
const AGENT = "ada";

/** An office of two, on a Server of its own. */
export class Office implements AsyncDisposable {
  readonly cell: Cell;
  readonly url: string;
  readonly computer: Role;
  readonly agent: Role;
  readonly folders: Folders;
  readonly computerName: string = COMPUTER;
  readonly agentName: string = AGENT;
  readonly name: string = OFFICE;
  readonly #opened: AsyncDisposable;

  private constructor(
    cell: Cell,
    parts: { readonly url: string; readonly computer: Role; readonly agent: Role; readonly folders: Folders },
    opened: AsyncDisposable,
  ) {
    this.cell = cell;
    this.url = parts.url;
    this.computer = parts.computer;
    this.agent = parts.agent;
    this.folders = parts.folders;
    this.#opened = opened;
  }

  /** Starts the three roles; the Agent has joined, and the Computer has yet to. */
  static async open(cell: Cell): Promise<Office> {
    await using opening = new AsyncDisposableStack();
    const root = await Deno.makeTempDir({ prefix: "a2c-matrix-" });
    opening.defer(() => Deno.remove(root, { recursive: true }));
    const folders = await makeFolders(root);
    const servers = opening.use(startMcpServers());
    const url = await openServer(cell, opening);
    const roles = await Promise.allSettled([
      openComputer(cell, { url, folders, servers }),
      openAgent(cell, url),
    ]);
    const [computer, agent] = roles.map((role) =>
      role.status === "fulfilled" ? opening.use(role.value) : role
    );
    if (computer === undefined || agent === undefined) throw new TypeError("Cannot open a cell: no roles");
    if ("reason" in computer) throw computer.reason;
    if ("reason" in agent) throw agent.reason;
    return new Office(cell, { url, folders, computer, agent }, opening.move());
  }

  /** The protocol of the office. */
  get minor(): ProtocolMinor {
    return this.cell.sdk.minor;
  }

  /** The name under which the Agent calls a tool of an MCP server. */
  toolName(server: string, tool: string): string {
    return this.minor === "0.2" ? tool : `${server}__${tool}`;
  }

  /** Has the Agent ask the Computer, and returns the fields of the answer. */
  async ask(command: string, body: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    return fields(await this.agent.command({ command, computer: COMPUTER, ...body }));
  }

  /** Has the Agent call a tool, and returns the result. */
  call(
    [server, tool]: readonly [string, string],
    params: Readonly<Record<string, unknown>> = {},
    timeout = 30,
  ): Promise<Record<string, unknown>> {
    return this.ask("call", { tool: this.toolName(server, tool), params, timeout });
  }

  /** What the Agent sees of the Computer's Desktop. */
  async desktop(body: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return (await this.ask("desktop", body))["desktops"];
  }

  /** Waits until a window has this text, which the Agent learns from notifications. */
  async untilDesktopSays(text: string): Promise<void> {
    const { sdk, computer } = this.cell;
    // The Computer of the Rust SDK tells of no changed window, so it is asked again and again.
    const isTold = sdk.language !== "Rust" || computer === "ours";
    while (!JSON.stringify(await this.desktop()).includes(text)) {
      if (isTold) await this.agent.nextEvent("notify:update_desktop");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }
}

/** A driver of another SDK in one of the roles. */
function startTheirs(
  { language, version }: Sdk,
  role: RoleName,
  args: readonly string[],
): Promise<PeerProcess> {
  if (language === "Rust") return startRustPeer(role, args);
  // The virtual environment itself holds the oldest version.
  return PythonPeer.start(role, args, version === "0.2.2" ? {} : { version });
}

async function openServer({ sdk, server }: Cell, opening: AsyncDisposableStack): Promise<string> {
  if (server === "ours") return opening.use(await SmcpServer.listen({ port: 0 })).url;
  return String(opening.use(await startTheirs(sdk, "server", [])).ready["url"]);
}

function openComputer(
  { sdk, computer }: Cell,
  { url, folders, servers: { entries } }: {
    readonly url: string;
    readonly folders: Folders;
    readonly servers: McpServers;
  },
): Promise<Role> {
  const address = { url, office: OFFICE, name: COMPUTER, minor: sdk.minor };
  if (computer === "ours") return openOwnComputer(address, { entries, folders });
  // Their folder of skills has one folder for each source.
  const files = ["--skill-home", folders.skills.replace(/\/user$/, "")];
  if (sdk.minor === "0.4") files.push("--landing-root", folders.uploads);
  const servers = ["--servers", JSON.stringify(entries)];
  return startTheirs(sdk, "computer", ["--url", url, "--name", COMPUTER, ...servers, ...files]);
}

function openAgent({ sdk, agent }: Cell, url: string): Promise<Role> {
  if (agent === "ours") return connectOwnAgent({ url, office: OFFICE, name: AGENT, minor: sdk.minor });
  return startTheirs(sdk, "agent", ["--url", url, "--office", OFFICE, "--name", AGENT]);
}
