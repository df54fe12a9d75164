/** What each Computer is known to support, asked once while it stays in the office. */
import { settledWithin } from "../async/abortable.ts";
import { parseOpenInputRet } from "../protocol/answers.ts";
import { GET_MCP_SERVERS_EVENT, OPEN_INPUT_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../link/errors.ts";
import { parseGetMcpServersRet } from "../protocol/prompt_answers.ts";
import { QUESTION_MODES } from "../protocol/questions.ts";
import type { Listeners } from "./listeners.ts";
import type { ComputerPresence } from "../protocol/presence.ts";
import { isNotServed, type Machine, type Requests } from "./requests.ts";

/** The time limit for a request of an extension: some other implementations do not answer unknown events. */
export const EXTENSION_TIMEOUT_MS = 5_000;
/** How long a list of tools waits for the names of its MCP servers: a Computer of this package answers at once. */
const SERVERS_WAIT_MS = 500;

type Servers = ReadonlyMap<string, string>;

interface Facts {
  /** The answer to the request for a channel of questions, also a no (`docs/protocol/questions.md#opening-the-channel`). */
  channel?: Promise<boolean> | undefined;
  isChannelOpen?: boolean;
  /** The MCP server of each tool (`docs/protocol/extensions.md#list-of-mcp-servers`). */
  servers?: Promise<Servers> | undefined;
  /** Whether the Computer cannot tell the progress of calls (`docs/protocol/progress.md`). */
  isWithoutProgress?: boolean;
  /** The machine that has the name (`docs/protocol/extensions.md#machines`). */
  machine?: Machine | undefined;
}

type Asking = Pick<Requests, "computer" | "ask">;

/** Facts hold until their Computer leaves or returns, or the connection of the Agent is lost. */
export class ComputerFacts {
  readonly #facts = new Map<string, Facts>();

  constructor(listeners: Listeners) {
    const forget = ({ role, name }: { readonly role: string; readonly name: string }) => {
      if (role === "computer") this.#facts.delete(name);
    };
    const forgetServers = ({ computer }: { readonly computer: string }) => {
      this.of(computer).servers = undefined;
    };
    listeners.on("enterOffice", forget);
    listeners.on("leaveOffice", forget);
    listeners.on("updateToolList", forgetServers);
    listeners.on("updateConfig", forgetServers);
    listeners.on("disconnected", () => this.clear());
  }

  of(computer: string): Facts {
    const facts = this.#facts.get(computer) ?? {};
    this.#facts.set(computer, facts);
    return facts;
  }

  clear(): void {
    this.#facts.clear();
  }

  /** The machine that has a name now, by what `list` answers. A request that is sent after it goes to the same machine. */
  machineOf(computer: string, list: () => Promise<readonly ComputerPresence[]>): Machine {
    const facts = this.of(computer);
    if (facts.machine !== undefined) return facts.machine;
    const told = list().then(
      (all) => {
        const holder = all.find((each) => each.computer === computer);
        machine.id = holder?.machine;
        machine.isThere = holder !== undefined;
      },
      (error: unknown) => {
        if (!isNeverServed(error)) facts.machine = undefined;
      },
    );
    const machine: Machine = facts.machine = { told };
    return machine;
  }

  /** Opens the channel of questions; resolves to whether it is open, after five seconds at the latest. Never rejects. */
  async openChannel(requests: Asking): Promise<boolean> {
    const facts = this.of(requests.computer);
    const options = { timeoutMs: EXTENSION_TIMEOUT_MS, parse: parseOpenInputRet, isFailureLogged: true };
    facts.channel ??= requests.ask(OPEN_INPUT_EVENT, { modes: [...QUESTION_MODES] }, options).then(
      ({ modes }) => facts.isChannelOpen = modes.length > 0,
      (error: unknown) => {
        if (!isNeverServed(error)) facts.channel = undefined;
        return false;
      },
    );
    return await settledWithin(facts.channel, EXTENSION_TIMEOUT_MS) === true;
  }

  /** Requests the MCP servers of the tools. The returned function waits for them, but not long. Never rejects. */
  requestServers(requests: Asking): () => Promise<Servers> {
    const facts = this.of(requests.computer);
    const options = { timeoutMs: EXTENSION_TIMEOUT_MS, parse: parseGetMcpServersRet, isFailureLogged: true };
    const asked = facts.servers ??= requests.ask(GET_MCP_SERVERS_EVENT, {}, options).then(
      ({ mcp_servers }) =>
        new Map(mcp_servers.flatMap(({ mcp_server, tools = [] }) => tools.map((tool) => [tool, mcp_server]))),
      (error: unknown) => {
        if (!isNeverServed(error) && facts.servers === asked) facts.servers = undefined;
        return new Map<string, string>();
      },
    );
    return async () => await settledWithin(asked, SERVERS_WAIT_MS) ?? new Map();
  }
}

/** Whether a Computer need not be asked again; any other failure may pass. */
export function isNeverServed(error: unknown): boolean {
  return isNotServed(error) || error instanceof RequestTimeoutError;
}
