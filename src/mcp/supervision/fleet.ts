/** The MCP servers of one Computer, in the order of their precedence. */
import { isDeepStrictEqual } from "node:util";
import { Limiter } from "../../async/limiter.ts";
import type { MCPServerConfig } from "../../protocol/config.ts";
import { ProcessGuard } from "../stdio/guard.ts";
import { type ServerContext, SupervisedServer } from "./server.ts";

/** What a fleet needs; what its servers share it brings itself. */
export type FleetContext = Omit<ServerContext, "guard" | "starts">;

/** What a new configuration did to the servers, by name. */
export interface FleetChange {
  /** New. */
  readonly added: readonly string[];
  /** Gone. */
  readonly removed: readonly string[];
  /** Replaced by a new process, or a new connection. */
  readonly replaced: readonly string[];
  /** Changed in what the Computer makes of them; their sessions go on. */
  readonly adopted: readonly string[];
}

/** Servers by name. Their order in the configuration is their precedence: the first owns a contested name. */
export class Fleet implements AsyncDisposable {
  readonly #context: ServerContext;
  readonly #guard: ProcessGuard;
  /** What is being stopped for good. */
  readonly #leaving = new Map<SupervisedServer, Promise<void>>();
  #servers: ReadonlyMap<string, SupervisedServer> = new Map();

  constructor(context: FleetContext) {
    this.#guard = new ProcessGuard(context.log);
    const starts = new Limiter(context.limits.maxConcurrentStarts);
    this.#context = { ...context, guard: this.#guard, starts };
  }

  /** The servers in order of precedence. */
  get servers(): readonly SupervisedServer[] {
    return [...this.#servers.values()];
  }

  get(name: string): SupervisedServer | undefined {
    return this.#servers.get(name);
  }

  /**
   * Becomes what the configurations say, touching no server that they leave as it is. A server whose transport or
   * parameters changed is another one. What had its name before, or the same parameters under another name, may hold
   * a lock or a port: it starts once that is gone. Returns at once.
   */
  follow(configs: readonly MCPServerConfig[]): FleetChange {
    const change = { added: [], removed: [], replaced: [], adopted: [] } as {
      [Kind in keyof FleetChange]: string[];
    };
    const before = this.#servers;
    const fresh: SupervisedServer[] = [];
    this.#servers = new Map(configs.map((config) => {
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
    change.removed.push(...before.keys().filter((name) => !this.#servers.has(name)));
    for (const server of before.values()) {
      if (this.#servers.get(server.name) !== server) this.#leave(server);
    }
    for (const server of fresh) if (!server.config.disabled) server.start(this.#predecessorsOf(server));
    return change;
  }

  /** Resolves when no server that has left is still being stopped. */
  async quiet(): Promise<void> {
    await Promise.all(this.#leaving.values());
  }

  /** Stops all servers, all at once. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await this.quiet();
    await this.#guard.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #leave(server: SupervisedServer): void {
    this.#leaving.set(server, server.stop().finally(() => this.#leaving.delete(server)));
  }

  /** Resolves when nothing is left of the servers that a new one takes the place of. */
  async #predecessorsOf({ name, config }: SupervisedServer): Promise<void> {
    const predecessors = this.#leaving.entries().filter(([server]) =>
      server.name === name || isDeepStrictEqual(server.config.server_parameters, config.server_parameters)
    );
    await Promise.all(predecessors.map(([, gone]) => gone));
  }
}

/**
 * Whether two configurations differ at most in what a Computer makes of the server's tools. A script is compiled before
 * its server starts, so another one is another start.
 */
function isSameProcess(one: MCPServerConfig, other: MCPServerConfig): boolean {
  return one.type === other.type && one.disabled === other.disabled &&
    (one.vrl ?? "") === (other.vrl ?? "") &&
    isDeepStrictEqual(one.server_parameters, other.server_parameters);
}
