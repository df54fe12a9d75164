/** Our Computer and our Agent behind the commands of the drivers. */
import { Agent } from "../../../agent.ts";
import { Computer } from "../../../computer.ts";
import { SmcpError } from "../../../mod.ts";
import { isFrom, type ProtocolMinor, toProtocolMinor } from "../../../src/protocol/version.ts";
import { fields } from "../_office.ts";
import { type PeerCommand, PeerError, type PeerEvent, type WaitOptions } from "../peer_process.ts";
import type { McpServerEntry } from "./mcp_servers.ts";
import type { Folders, Role } from "./role.ts";

/** Where a role of ours goes. */
export interface Address {
  readonly url: string;
  readonly office: string;
  readonly name: string;
  readonly minor: ProtocolMinor;
}

type Commands = Readonly<Record<string, (command: PeerCommand) => Promise<unknown>>>;

/** Long enough for a busy machine; only a failure waits for it. */
const EVENT_TIMEOUT_MS = 60_000;
/** A Server of another SDK answers no call that has timed out, and then our Agent waits for this long. */
const GRACE_MS = 2_000;

/** A role whose object lives in this process. */
class OwnRole implements Role {
  readonly #commands: Commands;
  readonly #close: () => Promise<void>;
  readonly #waiters = new Set<
    { matches: (event: PeerEvent) => boolean; resolve: (event: PeerEvent) => void }
  >();
  #unread: PeerEvent[] = [];

  constructor(commands: Commands, close: () => Promise<void>) {
    this.#commands = commands;
    this.#close = close;
  }

  async command(command: PeerCommand): Promise<unknown> {
    const run = this.#commands[command.command];
    if (run === undefined) throw new PeerError(`Cannot run "${command.command}": no such command`);
    try {
      return await run(command);
    } catch (error) {
      if (error instanceof SmcpError) throw new PeerError(`[${error.code}] ${error.message}`, error.details);
      throw error;
    }
  }

  async nextEvent(
    event: string,
    { timeoutMs = EVENT_TIMEOUT_MS, where = () => true }: WaitOptions & {
      readonly where?: (data: unknown) => boolean;
    } = {},
  ): Promise<PeerEvent> {
    const matches = (candidate: PeerEvent) => candidate.event === event && where(candidate.data);
    const early = this.#unread.findIndex(matches);
    const [found] = early < 0 ? [] : this.#unread.splice(early, 1);
    if (found !== undefined) return found;
    const { promise, resolve, reject } = Promise.withResolvers<PeerEvent>();
    const waiter = { matches, resolve };
    this.#waiters.add(waiter);
    const late = () => reject(new PeerError(`Waited ${timeoutMs} ms in vain for our Agent to hear ${event}`));
    const timer = setTimeout(late, timeoutMs);
    return await promise.finally(() => {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    });
  }

  takeEvents(): readonly PeerEvent[] {
    return this.#unread.splice(0);
  }

  /** Something happened. */
  report(event: PeerEvent): void {
    const waiter = [...this.#waiters].find(({ matches }) => matches(event));
    if (waiter === undefined) this.#unread.push(event);
    else {
      this.#waiters.delete(waiter);
      waiter.resolve(event);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** Opens our Computer and waits until its MCP servers run. */
export async function openOwnComputer(
  { url, office, name, minor }: Address,
  { entries, folders }: { readonly entries: readonly McpServerEntry[]; readonly folders: Folders },
): Promise<Role> {
  const servers = Object.fromEntries(entries.map(({ name, ...entry }) => [name, entry]));
  const config = {
    servers,
    skills: [folders.skills],
    ...isFrom(minor, "0.4") ? { uploads: folders.uploads } : {},
  };
  const computer = Computer.open({ name, config, protocolVersion: minor });
  await computer.ready();
  const empty = (name: string, protocolVersion = minor) =>
    Computer.open({ name, config: { servers: {} }, protocolVersion });
  return new OwnRole({
    join: () => computer.join({ url, office }),
    leave: () => computer.leave(),
    // The same for each `what`: the Computers of the SDKs tell of whatever they are asked to.
    update: async () => {
      const more = { type: "stdio", disabled: true, server_parameters: { command: "more" } };
      await computer.reconfigure({ ...config, servers: { ...servers, more } });
    },
    second: async ({ name }) => {
      await using other = empty(String(name));
      await other.join({ url, office });
    },
    reach: async ({ url, minor }) => {
      await using other = empty(name, toMinor(minor));
      await other.join({ url: String(url), office });
    },
  }, () => computer.close());
}

/** The protocol of a command that names one. */
function toMinor(minor: unknown): ProtocolMinor | undefined {
  return typeof minor === "string" ? toProtocolMinor(minor) : undefined;
}

/** Connects our Agent and joins. */
export async function connectOwnAgent({ url, office, name, minor }: Address): Promise<Role> {
  const connect: Connect = (name, { url: where = url, minor: protocolVersion = minor } = {}) =>
    Agent.connect({ url: where, office, name, protocolVersion, graceMs: GRACE_MS });
  const agent = await connect(name);
  const role = new OwnRole(commandsOf(agent, connect), () => agent.close());
  for (
    const type of ["enterOffice", "leaveOffice", "updateConfig", "updateToolList", "updateDesktop"] as const
  ) {
    agent.on(type, (event) => role.report(toNotification(event)));
  }
  agent.on("notification", ({ event, body }) => role.report({ event, data: body }));
  return role;
}

/** An event of our Agent as the notification that it came from, of which the steps look at the Computer alone. */
function toNotification(
  { type, name, computer = name }: {
    readonly type: string;
    readonly name?: string;
    readonly computer?: string;
  },
): PeerEvent {
  const event = type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { event: `notify:${event}`, data: { computer } };
}

/** Connects one more Agent. */
type Connect = (
  name: string,
  elsewhere?: { readonly url?: string; readonly minor?: ProtocolMinor | undefined },
) => Promise<Agent>;

function commandsOf(agent: Agent, connect: Connect): Commands {
  let call = new AbortController();
  const laptop = ({ computer }: PeerCommand) => agent.computer(String(computer));
  const ask = async (event: string, { command: _, ...body }: PeerCommand) =>
    fields(await agent.request(event, body));
  return {
    tools: async (command) => ({ tools: await laptop(command).getTools() }),
    call: (command) => {
      call = new AbortController();
      const { tool, params = {}, timeout = 10 } = command;
      const options = { timeoutMs: Number(timeout) * 1_000, signal: call.signal };
      return laptop(command).callTool(String(tool), fields(params), options);
    },
    cancel: () => Promise.resolve(call.abort()),
    desktop: async (command) => {
      const { size, window } = command as { size?: number; window?: string };
      return { desktops: await laptop(command).getDesktop({ size, window }) };
    },
    resources: async (command) => {
      const { mcp_server, cursor } = command as { mcp_server?: string; cursor?: string };
      const { resources, nextCursor } = await laptop(command).getResources(String(mcp_server), { cursor });
      return { resources, next_cursor: nextCursor };
    },
    config: async (command) => [await laptop(command).getConfig()],
    list_room: async () => [{ sessions: await agent.listOffice() }],
    skills: (command) => ask("client:get_skills", command),
    skill: (command) => ask("client:get_skill", command),
    blob: ({ computer, handle }) => readBlob(agent, { computer, blob_handle: handle }),
    put_blob: async (command) => {
      const { data, name } = command as { data?: string; name?: string };
      const bytes = Uint8Array.fromBase64(String(data));
      const { landingPath, totalSize, sha256 } = await laptop(command).putBlob(bytes, { name });
      return { landing_path: landingPath, total_size: totalSize, sha256 };
    },
    second: async ({ name }) => {
      await using _other = await connect(String(name));
    },
    reach: async ({ url, minor }) => {
      await using _other = await connect("eve", { url: String(url), minor: toMinor(minor) });
    },
    leave: () => agent.leave(),
  };
}

/** All bytes of a blob, in base64. */
async function readBlob(agent: Agent, blob: Readonly<Record<string, unknown>>): Promise<string> {
  const chunks: BlobPart[] = [];
  for (let offset = 0, isWhole = false; !isWhole;) {
    const answer = fields(await agent.request("client:get_blob", { ...blob, chunk_offset: offset }));
    const chunk = Uint8Array.fromBase64(String(answer["blob"]));
    chunks.push(chunk);
    offset += chunk.length;
    isWhole = answer["eof"] === true;
  }
  return (await new Blob(chunks).bytes()).toBase64();
}
