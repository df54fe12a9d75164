/** The MCP servers of one Computer, in order of precedence. */
import { isDeepStrictEqual } from "node:util";
import { Limiter } from "../../async/limiter.ts";
import { type MCPServerConfig, oauthOf, sandboxOf } from "../../protocol/config.ts";
import type { ProcessGuard } from "../stdio/guard.ts";
import { type ServerContext, SupervisedServer } from "./supervised_server.ts";

export type FleetContext = Omit<ServerContext, "guard" | "starts">;

export interface FleetChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Servers with a new process or a new connection. */
  readonly replaced: readonly string[];
  /** Servers with changed settings of the Computer only; their sessions go on. */
  readonly adopted: readonly string[];
}

/** Servers by name, in the order of the configuration, which is their precedence: the first owns a contested name. */
export class Fleet implements AsyncDisposable {
  readonly #context: ServerContext;
  #guard: Promise<ProcessGuard> | undefined;
  /** Removed servers that are still stopping. */
  readonly #leaving = new Map<SupervisedServer, Promise<void>>();
  #byName: ReadonlyMap<string, SupervisedServer> = new Map();
  /** In order of precedence. */
  servers: readonly SupervisedServer[] = [];

  constructor(context: FleetContext) {
    const guard = () => this.#openGuard();
    const starts = new Limiter(context.limits.maxConcurrentStarts);
    this.#context = { ...context, guard, starts };
  }

  get(name: string): SupervisedServer | undefined {
    return this.#byName.get(name);
  }

  /**
   * Applies new configurations, and leaves unchanged servers alone. A server with a changed transport or changed
   * parameters is replaced. It starts when the former server of that name, or with the same parameters, is gone, since
   * that may hold a lock or a port. Returns at once.
   */
  follow(configs: readonly MCPServerConfig[]): FleetChange {
    const change = { added: [], removed: [], replaced: [], adopted: [] } as {
      [Kind in keyof FleetChange]: string[];
    };
    const before = this.#byName;
    const fresh: SupervisedServer[] = [];
    this.#byName = new Map(configs.map((config) => {
      const { name } = config;
      const server = before.get(name);
      if (server !== undefined && isSameProcess(server.config, config)) {
        if (!isDeepStrictEqual(server.config, config)) change.adopted.push(name);
        server.adopt(config);
        return [name, server];
      }
      (server === undefined ? change.added : change.replaced).push(name);
      const next = new SupervisedServer(config, this.#context);
      fresh.push(next);
      return [name, next];
    }));
    this.servers = [...this.#byName.values()];
    change.removed.push(...before.keys().filter((name) => !this.#byName.has(name)));
    for (const server of before.values()) {
      if (this.#byName.get(server.name) !== server) this.#leave(server);
    }
    for (const server of fresh) if (!server.config.disabled) server.start(this.#predecessorsOf(server));
    return change;
  }

  /** Resolves when all removed servers have stopped. */
  async quiet(): Promise<void> {
    await Promise.all(this.#leaving.values());
  }

  /** Stops all servers in parallel. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await this.quiet();
    await (await this.#guard)?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Loaded with the first connection, as all that starts servers. */
  #openGuard(): Promise<ProcessGuard> {
    return this.#guard ??= import("../stdio/guard.ts").then(({ ProcessGuard }) =>
      new ProcessGuard(this.#context.log)
    );
  }

  #leave(server: SupervisedServer): void {
    this.#leaving.set(server, server.stop().finally(() => this.#leaving.delete(server)));
  }

  /** Resolves when the servers that a new one replaces are gone. */
  async #predecessorsOf({ name, config }: SupervisedServer): Promise<void> {
    const predecessors = this.#leaving.entries().filter(([server]) =>
      server.name === name || isDeepStrictEqual(server.config.server_parameters, config.server_parameters)
    );
    await Promise.all(predecessors.map(([, gone]) => gone));
  }
}

/**
 * Returns whether two configurations differ at most in settings of the Computer. A changed script needs a restart, since
 * scripts are compiled before the server starts; and so do whether the server may ask questions or show pages, and the
 * versions of MCP, since they are settled at its start.
 */
function isSameProcess(one: MCPServerConfig, other: MCPServerConfig): boolean {
  return one.type === other.type && one.disabled === other.disabled &&
    (one.vrl ?? "") === (other.vrl ?? "") &&
    (one.elicitation === "decline") === (other.elicitation === "decline") &&
    (one.mcp_version ?? "") === (other.mcp_version ?? "") &&
    (one.apps === true) === (other.apps === true) &&
    isDeepStrictEqual(sandboxOf(one), sandboxOf(other)) &&
    isDeepStrictEqual(one.server_parameters, other.server_parameters) &&
    isDeepStrictEqual(oauthOf(one), oauthOf(other));
}
