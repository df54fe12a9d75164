/** Which MCP server each tool of a Computer belongs to (`docs/protocol/extensions.md#list-of-mcp-servers`). */
import { settledWithin } from "../async/abortable.ts";
import { GET_MCP_SERVERS_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import { parseGetMcpServersRet } from "../protocol/prompt_answers.ts";
import type { ComputerRequests } from "./computer_requests.ts";
import type { Listeners } from "./listeners.ts";
import { isNotServed } from "./requests.ts";

/** The time limit for `client:get_mcp_servers`: some other implementations do not answer unknown events. */
const REQUEST_TIMEOUT_MS = 5_000;
/** How long a list of tools waits for it, in milliseconds: a Computer of this package answers at once. */
const WAIT_MS = 500;
const NONE: ReadonlyMap<string, string> = new Map();

/** The MCP servers of the tools of each Computer, requested once until its tools or its configuration change. */
export class ToolServers {
  readonly #known = new Map<string, Promise<ReadonlyMap<string, string>>>();

  constructor(listeners: Listeners) {
    const forget = ({ computer }: { readonly computer: string }) => void this.#known.delete(computer);
    const forgetMember = ({ name }: { readonly name: string }) => forget({ computer: name });
    listeners.on("updateToolList", forget);
    listeners.on("updateConfig", forget);
    listeners.on("enterOffice", forgetMember);
    listeners.on("leaveOffice", forgetMember);
    listeners.on("disconnected", () => this.#known.clear());
  }

  /**
   * Requests the names of the MCP servers, by tool. The returned function waits for them, but not long; without an answer
   * there are none. Never rejects.
   */
  request(requests: Pick<ComputerRequests, "computer" | "ask">): () => Promise<ReadonlyMap<string, string>> {
    const { computer } = requests;
    const asked = this.#known.get(computer) ?? fetchServers(requests).catch((error: unknown) => {
      // A Computer that does not know the event need not be asked again; any other failure may pass.
      const isFinal = isNotServed(error) || error instanceof RequestTimeoutError;
      if (!isFinal && this.#known.get(computer) === asked) this.#known.delete(computer);
      return NONE;
    });
    this.#known.set(computer, asked);
    return async () => await settledWithin(asked, WAIT_MS) ?? NONE;
  }
}

async function fetchServers(requests: Pick<ComputerRequests, "ask">): Promise<ReadonlyMap<string, string>> {
  const options = { timeoutMs: REQUEST_TIMEOUT_MS, parse: parseGetMcpServersRet, isFailureLogged: true };
  const { mcp_servers } = await requests.ask(GET_MCP_SERVERS_EVENT, {}, options);
  return new Map(
    mcp_servers.flatMap(({ mcp_server, tools = [] }) => tools.map((tool) => [tool, mcp_server])),
  );
}
