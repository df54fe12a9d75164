/** Serves `tools/list` and `tools/call`. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type HandlerResultTypeMap,
  ProtocolError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { errorResult, type Json, type McpToolResult } from "../local_tools/mcp.ts";
import { reporterOf, toSdkResult } from "../agent/toolkit/mcp_server.ts";
import { type ClientKey, type QuestionAbilities, type SuspendedCalls, withAbilities } from "./questions.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import type { Activity } from "./gateway_options.ts";
import { type Access, OWNER } from "../http/mcp/access.ts";
import type { ScopedTools } from "./scoped_tools.ts";

export interface ToolHandlerParts {
  /** What the client may do now. */
  readonly access: () => Access;
  /** The client's name, as Computers are told it. */
  readonly clientName: () => string | undefined;
  /** The tools of a client, by the names that it gives itself. */
  readonly toolsFor: (...names: (string | undefined)[]) => ScopedTools;
  readonly asking: SuspendedCalls;
  readonly shares: CallShares;
  readonly isPerRequest: boolean;
  /** Resolves when the tools of the office are known, or have taken too long. */
  readonly ready: () => Promise<void>;
  readonly office: () => string | undefined;
  readonly onActivity: (activity: Activity) => void;
}

export function serveTools(
  server: Server,
  { access, clientName, toolsFor, asking, shares, isPerRequest, ready, office, onActivity }: ToolHandlerParts,
): void {
  const toolsOfClient = () => toolsFor(nameOfClient(server), access().client);
  server.setRequestHandler("tools/list", async ({ params }) => {
    await ready();
    return toolsOfClient().page(params?.cursor) as HandlerResultTypeMap["tools/list"];
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    await ready();
    const { name, arguments: args = {} } = params;
    const tools = toolsOfClient();
    const abilities = abilitiesOf(server, context);
    const { signal, inputResponses: responses } = context.mcpReq;
    const { id, rights, client: nameOfGrant, person } = access();
    const client: ClientKey = isPerRequest ? `${id} ${describeClient(server)}` : server;
    // The owner's clients are many, and are told apart by their sessions and names.
    const share = id === OWNER.id ? client : id;
    const request = { client, tool: name, signal, state: context.mcpReq.requestState<string>(), responses };
    const begun = performance.now();
    const end = (outcome: Activity["outcome"], meta?: Json) =>
      onActivity({
        client: describeClient(server),
        credential: id,
        name: nameOfGrant,
        person,
        office: office(),
        ...tools.targetOf(name, args),
        args,
        durationMs: performance.now() - begun,
        outcome,
        ...outcome === "error" && failureOf(meta),
      });
    try {
      const result = await asking.handle(
        { ...request, onProgress: reporterOf(context) },
        ({ onQuestion, ...call }) =>
          shares.run(
            share,
            () =>
              tools.call(name, args, {
                ...call,
                client,
                clientName: clientName(),
                rights,
                onQuestion: withAbilities(onQuestion, abilities),
              }),
          ),
      );
      end(!("content" in result) ? "asked" : result.isError === true ? "error" : "ok", result._meta);
      return toSdkResult(server, result, tools.find(name)?.outputSchema);
    } catch (error) {
      const error_code = error instanceof ProtocolError ? ErrorCode.BAD_REQUEST : ErrorCode.INTERNAL_ERROR;
      end(signal.aborted ? "cancelled" : "error", { error_code });
      throw error;
    }
  });
}

/** Why a call has failed; nothing where the tool reports its own failure. */
function failureOf(meta: Json = {}): Pick<Activity, "code" | "reason"> {
  const { error_code: code, a2c_reason, a2c_cancelled } = meta;
  const reason = a2c_cancelled === true ? "cancelled" : a2c_reason;
  return {
    code: typeof code === "number" ? code : undefined,
    reason: typeof reason === "string" ? reason : undefined,
  };
}

/** A client of 2025 says once what it can, one of 2026 with each request. An empty capability means forms. */
function abilitiesOf(server: Server, { mcpReq }: ServerContext): QuestionAbilities {
  const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
  const perRequest = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const { elicitation } = perRequest ?? server.getClientCapabilities() ?? {};
  if (elicitation === undefined) return { form: false, url: false };
  return {
    form: elicitation.form !== undefined || elicitation.url === undefined,
    url: elicitation.url !== undefined,
  };
}

/** The most calls of one client at the same time: a quarter of what a Computer runs by default. */
export const MAX_OPEN_CALLS = 64;

/** How many calls each client has open, so that one client leaves the others some of what a Computer runs. */
export class CallShares {
  readonly #open = new Map<ClientKey, number>();

  /** Makes a call, unless its client has too many open. */
  async run<Result>(client: ClientKey, call: () => Promise<Result>): Promise<Result | McpToolResult> {
    const open = this.#open.get(client) ?? 0;
    if (open >= MAX_OPEN_CALLS) {
      return errorResult(
        `Cannot call the tool: ${open} calls of this client are open. The tool did not run. Wait until others have ended`,
        { error_code: ErrorCode.TOO_MANY_REQUESTS, may_have_run: false },
      );
    }
    this.#open.set(client, open + 1);
    try {
      return await call();
    } finally {
      const left = (this.#open.get(client) ?? 1) - 1;
      if (left === 0) this.#open.delete(client);
      else this.#open.set(client, left);
    }
  }
}

/** Its own name, such as `Claude`; `undefined` when it has not said one. */
export function nameOfClient(server: Server): string | undefined {
  return server.getClientVersion()?.name || undefined;
}

/** Its own name and version, for the activity log. */
export function describeClient(server: Server): string {
  const { name = "unknown", version = "" } = server.getClientVersion() ?? {};
  return `${name} ${version}`.trim();
}
