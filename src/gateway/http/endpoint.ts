/** One path of the gateway over HTTP, for clients of both eras of MCP. */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isJSONRPCRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import type { Json } from "../../local_tools/mcp.ts";
import { isRecord } from "../../json/json.ts";
import type { Logger } from "../../log.ts";
import type { AskedHeaders } from "../../http/headers.ts";
import { type Access, accessOf } from "../../http/mcp/access.ts";
import type { McpPath } from "../../http/mcp/entrance.ts";
import type { AdmittedRequest } from "../../http/mcp/json_body.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import type { SessionFactory } from "../../http/mcp/sessions.ts";
import type { GatewayCore } from "../gateway_core.ts";
import { listenedResources } from "../listening_transport.ts";
import { type ListName, type Scope, throttleLists } from "../gateway_options.ts";
import { refuseParamHeaders } from "./param_headers.ts";
import type { ServedOffice } from "./served_offices.ts";

const EVENTS: Readonly<Record<ListName, ServerEvent>> = {
  tools: { kind: "tools_list_changed" },
  resources: { kind: "resources_list_changed" },
  prompts: { kind: "prompts_list_changed" },
};

/** Serves the clients of one scope. */
export class Endpoint implements McpPath {
  readonly served: ServedOffice;
  readonly factory: SessionFactory;
  readonly modern: McpHttpHandler;
  readonly #gateway: GatewayCore;
  readonly #scope: Scope;
  readonly #unfollow: readonly (() => void)[];
  #busy = 0;

  constructor(
    served: ServedOffice,
    { scope, logger }: { readonly scope: Scope; readonly logger: Logger },
  ) {
    const { gateway } = served;
    this.served = served;
    this.#gateway = gateway;
    this.#scope = scope;
    this.factory = keeping(served, gateway.factory(scope));
    const bus = new InMemoryServerEventBus();
    const factory = gateway.factory(scope, { isPerRequest: true });
    const serve = ({ era, authInfo }: McpRequestContext) => {
      const access = accessOf(authInfo);
      return factory({ era, access: () => access });
    };
    this.modern = createMcpHandler(serve, {
      legacy: "reject",
      bus,
      onerror: (error) => logger.debug("a request of a client was not served", { error: error.message }),
    });
    this.#unfollow = [
      throttleLists(
        (listener) => gateway.onListChanged(scope, listener),
        (list) => bus.publish(EVENTS[list]),
      ),
      gateway.onResourceUpdated(scope, (uri) => bus.publish({ kind: "resource_updated", uri })),
    ];
  }

  /** Whether no request is served. */
  get isIdle(): boolean {
    return this.#busy === 0;
  }

  async before(
    { request: { headers }, body, ending }: AdmittedRequest,
    { isLegacy, access }: { readonly isLegacy: boolean; readonly access: Access },
  ): Promise<Response | undefined> {
    this.#busy++;
    ending.defer(() => void this.#busy--);
    const use = this.served.use?.(access.id);
    if (use !== undefined) ending.defer(() => use[Symbol.dispose]());
    const problem = await this.served.problem?.();
    if (problem !== undefined) return cannotUse(problem);
    // Without a challenge, the answer of the tool says so.
    if (access.challenge !== undefined && await this.#needsMore(body, access)) return access.challenge();
    if (isLegacy) return undefined;
    if (headers.get("mcp-method") === "tools/call") return this.#refuseCall(headers, body);
    const followed = isJSONRPCRequest(body) ? listenedResources(body) : [];
    if (followed.length > 0) ending.defer(await this.#gateway.followResources(followed, this.#scope));
    return undefined;
  }

  /** Whether a message calls a tool for which its client lacks rights. A call waits for the tools of the office anyway. */
  async #needsMore(body: unknown, access: Access): Promise<boolean> {
    const calls = callsOf(body);
    if (calls.length > 0) await this.#gateway.ready;
    return calls.some((call) => this.#gateway.needsMore(call, this.#scope, access));
  }

  async close(): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    await this.modern.close();
  }

  #refuseCall(headers: AskedHeaders, body: unknown): Response | undefined {
    const tool = this.#gateway.findTool(headers.get("mcp-name") ?? "", this.#scope);
    return tool && refuseParamHeaders(tool.inputSchema, body, headers);
  }
}

/** A factory whose sessions keep what they are served by. */
function keeping(served: ServedOffice, factory: SessionFactory): SessionFactory {
  return (client) => {
    const server = factory(client);
    const use = served.use?.(client.access().id);
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      use?.[Symbol.dispose]();
    };
    return server;
  };
}

function cannotUse(problem: string): Response {
  return httpError(503, `Cannot use the office: ${problem}`, { headers: { "retry-after": "5" } });
}

/** The calls of tools in a message, or in a batch of them. */
function callsOf(body: unknown): { readonly name: string; readonly args: Json }[] {
  return [body].flat().flatMap((message) => {
    const { method, params }: Json = isRecord(message) ? message : {};
    if (method !== "tools/call" || !isRecord(params) || typeof params["name"] !== "string") return [];
    return [{ name: params["name"], args: isRecord(params["arguments"]) ? params["arguments"] : {} }];
  });
}
