/** One path of the gateway over HTTP, for clients of both eras of MCP. */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  type McpHttpHandler,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import { Throttle } from "../../async/throttle.ts";
import type { Logger } from "../../log.ts";
import type { SessionPlaces } from "../../streamable_http/session_places.ts";
import { Sessions } from "../../streamable_http/sessions.ts";
import { whenDone } from "../../streamable_http/when_done.ts";
import type { GatewayCore } from "../gateway_core.ts";
import { listenedResources } from "../listening_transport.ts";
import { concerns, type Scope } from "../scope.ts";
import type { ListName } from "../list_name.ts";
import { LIST_CHANGED_INTERVAL_MS } from "../session.ts";
import { hasParamHeaders, refuseParamHeaders } from "./param_headers.ts";

const EVENTS: Readonly<Record<ListName, ServerEvent>> = {
  tools: { kind: "tools_list_changed" },
  resources: { kind: "resources_list_changed" },
  prompts: { kind: "prompts_list_changed" },
};

/** Serves the clients of one scope. A client of 2025 has a session, one of 2026 a server for each request. */
export class Endpoint {
  readonly #gateway: GatewayCore;
  readonly #scope: Scope;
  readonly #sessions: Sessions;
  readonly #modern: McpHttpHandler;
  readonly #maxBodyBytes: number;
  readonly #unfollow: () => void;
  /** Requests and streams that are open now. */
  #busy = 0;

  constructor(
    gateway: GatewayCore,
    { scope, places, idleMs, maxBodyBytes, logger }: {
      readonly scope: Scope;
      readonly places: SessionPlaces;
      readonly idleMs: number;
      readonly maxBodyBytes: number;
      readonly logger: Logger;
    },
  ) {
    this.#gateway = gateway;
    this.#scope = scope;
    this.#maxBodyBytes = maxBodyBytes;
    this.#sessions = new Sessions(gateway.factory(scope), { places, idleMs, maxBodyBytes });
    const bus = new InMemoryServerEventBus();
    this.#modern = createMcpHandler(gateway.factory(scope, { isPerRequest: true }), {
      legacy: "reject",
      bus,
      maxRequestBodySize: maxBodyBytes,
      onerror: (error) => logger.debug("a request of a client was not served", { error: error.message }),
    });
    this.#unfollow = publishChanges(gateway, { bus, scope });
  }

  /** Whether no client holds anything here. */
  get isIdle(): boolean {
    return this.#busy === 0 && this.#sessions.size === 0;
  }

  /** Serves a request that was admitted. */
  async fetch(request: Request): Promise<Response> {
    this.#busy++;
    const end = () => void this.#busy--;
    try {
      return whenDone(await this.#fetch(request), end);
    } catch (error) {
      end();
      throw error;
    }
  }

  async #fetch(request: Request): Promise<Response> {
    if (await isLegacyRequest(request, undefined, { maxRequestBodySize: this.#maxBodyBytes })) {
      return await this.#sessions.fetch(request);
    }
    const method = request.headers.get("mcp-method");
    if (method === "subscriptions/listen") return await this.#listen(request);
    if (method === "tools/call") return await this.#call(request);
    return await this.#modern.fetch(request);
  }

  /** Ends what the clients hold. */
  async close(): Promise<void> {
    this.#unfollow();
    await Promise.all([this.#sessions.close(), this.#modern.close()]);
  }

  /** Only a tool that wants arguments in headers costs a second look at the body. */
  async #call(request: Request): Promise<Response> {
    const tool = this.#gateway.findTool(request.headers.get("mcp-name") ?? "", this.#scope);
    if (tool === undefined || !hasParamHeaders(tool.inputSchema)) return await this.#modern.fetch(request);
    const message = await request.clone().json().catch(() => undefined);
    return refuseParamHeaders(tool.inputSchema, message, request.headers) ??
      await this.#modern.fetch(request);
  }

  /** Follows the resources of a stream as long as the stream is open. */
  async #listen(request: Request): Promise<Response> {
    const message = await request.clone().json().catch(() => undefined);
    const end = await this.#gateway.followResources(
      listenedResources(message ?? { method: "" }),
      this.#scope,
    );
    return whenDone(await this.#modern.fetch(request), end);
  }
}

function publishChanges(
  gateway: GatewayCore,
  { bus, scope }: { readonly bus: InMemoryServerEventBus; readonly scope: Scope },
): () => void {
  const throttleOf = (list: ListName) =>
    new Throttle(() => bus.publish(EVENTS[list]), LIST_CHANGED_INTERVAL_MS);
  const throttles = {
    tools: throttleOf("tools"),
    resources: throttleOf("resources"),
    prompts: throttleOf("prompts"),
  };
  const unfollow = gateway.onChange((change) => {
    if (!concerns(change, scope)) return;
    if (change.kind === "list") throttles[change.list].request();
    else bus.publish({ kind: "resource_updated", uri: change.uri });
  });
  return () => {
    unfollow();
    for (const throttle of Object.values(throttles)) throttle.close();
  };
}
