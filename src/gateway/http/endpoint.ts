/** One path of the gateway over HTTP, for clients of both eras of MCP. */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isJSONRPCRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import type { Logger } from "../../log.ts";
import type { AdmittedRequest } from "../../http/mcp/json_body.ts";
import type { SessionFactory, Sessions } from "../../http/mcp/sessions.ts";
import type { GatewayCore } from "../gateway_core.ts";
import { listenedResources } from "../listening_transport.ts";
import type { Scope } from "../scope.ts";
import { type ListName, throttleLists } from "../list_name.ts";
import { refuseParamHeaders } from "./param_headers.ts";

const EVENTS: Readonly<Record<ListName, ServerEvent>> = {
  tools: { kind: "tools_list_changed" },
  resources: { kind: "resources_list_changed" },
  prompts: { kind: "prompts_list_changed" },
};

/** Serves the clients of one scope. A client of 2025 has a session, one of 2026 a server for each request. */
export class Endpoint {
  readonly #gateway: GatewayCore;
  readonly #scope: Scope;
  readonly #factory: SessionFactory;
  readonly #sessions: Sessions;
  readonly #modern: McpHttpHandler;
  readonly #unfollow: readonly (() => void)[];
  #busy = 0;

  constructor(
    gateway: GatewayCore,
    { scope, sessions, logger }: {
      readonly scope: Scope;
      readonly sessions: Sessions;
      readonly logger: Logger;
    },
  ) {
    this.#gateway = gateway;
    this.#scope = scope;
    this.#factory = gateway.factory(scope);
    this.#sessions = sessions;
    const bus = new InMemoryServerEventBus();
    this.#modern = createMcpHandler(gateway.factory(scope, { isPerRequest: true }), {
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

  get isIdle(): boolean {
    return this.#busy === 0 && !this.#sessions.has(this.#factory);
  }

  async fetch(admitted: AdmittedRequest): Promise<Response> {
    const { request, body, ending } = admitted;
    this.#busy++;
    ending.defer(() => void this.#busy--);
    if (await isLegacyRequest(request, body)) {
      return await this.#sessions.fetch(admitted, this.#factory);
    }
    const method = request.headers.get("mcp-method");
    const refusal = method === "tools/call" ? this.#refuseCall(admitted) : undefined;
    const followed = isJSONRPCRequest(body) ? listenedResources(body) : [];
    if (followed.length > 0) ending.defer(await this.#gateway.followResources(followed, this.#scope));
    return refusal ?? await this.#modern.fetch(request, { parsedBody: body });
  }

  async close(): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    await this.#modern.close();
  }

  #refuseCall({ request: { headers }, body }: AdmittedRequest): Response | undefined {
    const tool = this.#gateway.findTool(headers.get("mcp-name") ?? "", this.#scope);
    return tool && refuseParamHeaders(tool.inputSchema, body, headers);
  }
}
