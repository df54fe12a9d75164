/** The prompts of MCP servers (`docs/protocol/extensions.md#prompts`). */
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { isRecord, textsOf } from "../../json/json.ts";
import type { McpConnection } from "../../mcp/connection.ts";
import { ServerAnswerError } from "../../mcp/errors.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type {
  GetPromptReq,
  GetPromptRet,
  PromptArgument,
  PromptInfo,
  PromptMessage,
} from "../../protocol/prompts.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import { didYouMean } from "../../text/spelling.ts";
import { EntryLists } from "./entry_lists.ts";
import { absentServersHint, toReadError } from "../shared/failures.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import { isIcon } from "../resources/read.ts";
import type { ResourceRoutes } from "../resources/route.ts";

export interface PromptsContext extends SharedParts {
  readonly routes: ResourceRoutes;
}

export type PromptRequest = Omit<GetPromptReq, "agent" | "req_id" | "computer">;

interface WantedPrompt {
  readonly name: string;
  readonly mcpServer: string | undefined;
  readonly timeoutMs: number;
}

export class Prompts {
  readonly lists: EntryLists<PromptInfo>;
  readonly #context: PromptsContext;
  /** The servers whose last session announced prompts, and that have neither failed nor been stopped since. */
  readonly #offering = new Set<SupervisedServer>();

  constructor(context: PromptsContext) {
    this.#context = context;
    this.lists = new EntryLists({
      ...context,
      kind: "prompts",
      capability: "prompts",
      what: "prompts",
      toEntry: toPromptInfo,
    });
  }

  /** A new session of the server runs. */
  onRunning(server: SupervisedServer, { capabilities }: Pick<McpConnection, "capabilities">): void {
    const hadPrompts = this.#offering.delete(server);
    if (capabilities.prompts) this.#offering.add(server);
    if (hadPrompts || capabilities.prompts) this.#context.onChange("prompts");
  }

  /** The server is failed, stopped or removed: its prompts leave until it runs again. Idempotent. */
  onStopped(server: SupervisedServer): void {
    if (this.#offering.delete(server)) this.#context.onChange("prompts");
  }

  /** `notifications/prompts/list_changed`, or such a notification may have been lost. */
  onChanged(server: SupervisedServer): void {
    if (this.#offering.has(server)) this.#context.onChange("prompts");
  }

  /**
   * Fills in a prompt (`client:get_prompt`).
   *
   * @throws {SmcpError} 404, 4014 or 4015 when no server is found, 400 when the server refuses the name or the arguments;
   *   otherwise as `client:get_resources` is answered.
   */
  async get(
    request: PromptRequest,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Omit<GetPromptRet, "req_id">> {
    const { name, arguments: args = {}, mcp_server: mcpServer } = request;
    const timeoutMs = timeoutMsOf(request);
    const server = await this.find({ name, mcpServer, timeoutMs });
    const wanted = { name, arguments: args };
    try {
      const result = await server.use((connection) => connection.getPrompt(wanted, { timeoutMs, signal }));
      return this.#toPrompt(result, server);
    } catch (error) {
      throw error instanceof ServerAnswerError && error.rpcCode === RpcErrorCode.INVALID_PARAMS
        ? refused(error, name, server)
        : toReadError(error, { server });
    }
  }

  /** The named server, or the first one in order of precedence that lists a prompt of this name. */
  async find({ name, mcpServer, timeoutMs }: WantedPrompt): Promise<SupervisedServer> {
    const { fleet, routes } = this.#context;
    if (mcpServer !== undefined) return routes.findServer(mcpServer, "prompts");
    const listed = await this.lists.all({ timeoutMs });
    const found = listed.find(({ entry }) => entry.name === name);
    const server = found === undefined ? undefined : fleet.get(found.server);
    if (server !== undefined) return server;
    const hint = `${didYouMean(name, listed.map(({ entry }) => entry.name))}${absentServersHint(fleet)}`;
    const message = `Prompt not found: no MCP server lists the prompt "${name}"${hint}`;
    throw new SmcpError(ErrorCode.NOT_FOUND, message, { details: { prompt: name } });
  }

  /** Leaves out messages that are none. */
  #toPrompt(
    result: Readonly<Record<string, unknown>>,
    server: SupervisedServer,
  ): Omit<GetPromptRet, "req_id"> {
    const { description, messages, _meta } = result;
    const listed = Array.isArray(messages) ? messages : [];
    const valid = listed.filter(isMessage);
    if (valid.length < listed.length || !Array.isArray(messages)) {
      const fields = { server: server.name, count: listed.length - valid.length };
      this.#context.warnOnce.warn("messages of a prompt are left out: no role or no content", fields);
    }
    return {
      ...(typeof description === "string" ? { description } : {}),
      messages: valid,
      _meta: { ...(isRecord(_meta) ? _meta : {}), [A2C_MCP_SERVER]: server.name },
    };
  }
}

/** The content is unchecked beyond its type: the Agent keeps what it does not know. */
function isMessage(message: unknown): message is PromptMessage {
  return isRecord(message) && (message["role"] === "user" || message["role"] === "assistant") &&
    isRecord(message["content"]) && typeof message["content"]["type"] === "string";
}

function refused(
  cause: ServerAnswerError,
  name: string,
  server: SupervisedServer,
): SmcpError {
  const mcp_server = server.name;
  const message = `MCP server "${mcp_server}" refused the prompt "${name}": ${cause.message}`;
  return new SmcpError(ErrorCode.BAD_REQUEST, message, { cause, details: { mcp_server, prompt: name } });
}

/**
 * Translates an entry of `prompts/list`. Members that are null or of a wrong type are removed, because strict peers
 * refuse them, and so are arguments without a name. Returns `undefined` for an entry without a name.
 *
 * @param server The name of the MCP server.
 */
export function toPromptInfo(entry: unknown, server: string): PromptInfo | undefined {
  if (!isRecord(entry) || typeof entry["name"] !== "string" || entry["name"] === "") return undefined;
  const { name, title, description, arguments: args, icons, _meta, ...rest } = entry;
  return {
    ...rest,
    name,
    ...textsOf({ title, description }),
    ...(Array.isArray(args)
      ? { arguments: args.map(toArgument).filter((argument) => argument !== undefined) }
      : {}),
    ...(Array.isArray(icons) ? { icons: icons.filter(isIcon) } : {}),
    _meta: { ...(isRecord(_meta) ? _meta : {}), [A2C_MCP_SERVER]: server },
  };
}

function toArgument(argument: unknown): PromptArgument | undefined {
  if (!isRecord(argument) || typeof argument["name"] !== "string") return undefined;
  const { name, title, description, required, ...rest } = argument;
  return {
    ...rest,
    name,
    ...textsOf({ title, description }),
    ...(typeof required === "boolean" ? { required } : {}),
  };
}
