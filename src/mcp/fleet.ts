/** The MCP servers of one Computer, in the order of their precedence. */
import type { MCPServerConfig } from "../protocol/config.ts";
import { ProcessGuard } from "./guard.ts";
import { type ServerContext, SupervisedServer } from "./supervised_server.ts";

/** What a fleet needs; the guard of child processes it brings itself. */
export type FleetContext = Omit<ServerContext, "guard">;

/** Servers by name. The order in which they were added is their precedence: the first owns a contested name. */
export class Fleet implements AsyncDisposable {
  readonly #context: FleetContext;
  readonly #guard: ProcessGuard;
  readonly #servers = new Map<string, SupervisedServer>();

  constructor(context: FleetContext) {
    this.#context = context;
    this.#guard = new ProcessGuard(context.log);
  }

  /** The servers in order of precedence. */
  get servers(): readonly SupervisedServer[] {
    return [...this.#servers.values()];
  }

  get(name: string): SupervisedServer | undefined {
    return this.#servers.get(name);
  }

  /** Adds a server and, unless it is disabled, starts it. Returns at once. */
  add(config: MCPServerConfig): SupervisedServer {
    if (this.#servers.has(config.name)) {
      throw new TypeError(`Cannot add MCP server "${config.name}": the name is taken`);
    }
    const server = new SupervisedServer(config, { ...this.#context, guard: this.#guard });
    this.#servers.set(config.name, server);
    if (config.disabled) void server.stop();
    else server.start();
    return server;
  }

  /** Stops a server and forgets it. */
  async remove(name: string): Promise<void> {
    const server = this.#servers.get(name);
    if (server === undefined) return;
    this.#servers.delete(name);
    await server.stop();
  }

  /** Resolves when each server has started or failed once. */
  async settled(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.settled));
  }

  /** Stops all servers, all at once. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await this.#guard.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
