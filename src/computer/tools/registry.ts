/** The tools of all MCP servers: listed server by server, shown as one list, told of when that list changes. */
import type { Logger } from "../../log.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { ListLimits } from "../limits.ts";
import { buildToolDirectory, type ToolDirectory, ToolPortraits } from "./directory.ts";
import { ToolListing } from "./listing.ts";

/** What a registry needs. */
export interface ToolRegistryContext {
  /** The servers in order of precedence. */
  readonly servers: () => readonly SupervisedServer[];
  readonly log: Logger;
  readonly warnOnce: WarnOnce;
  readonly limits: ListLimits;
  /** How long one list may take, in milliseconds. */
  readonly timeoutMs: number;
  /** What an Agent sees has changed. */
  readonly onChange: () => void;
}

interface Membership {
  readonly listing: ToolListing;
  /** False while it is failed or stopped: it keeps its names, and shows none. */
  isListed: boolean;
}

/** The tools of one Computer. */
export class ToolRegistry {
  readonly #context: ToolRegistryContext;
  readonly #members = new Map<SupervisedServer, Membership>();
  readonly #portraits = new ToolPortraits();
  #directory: ToolDirectory = buildToolDirectory([]);

  constructor(context: ToolRegistryContext) {
    this.#context = context;
  }

  /** All tools, as they were listed last. */
  get directory(): ToolDirectory {
    return this.#directory;
  }

  /** A server of the fleet; what it lists is known from its first session on. */
  add(server: SupervisedServer): void {
    const { log, warnOnce, limits, timeoutMs } = this.#context;
    const onChange = () => this.update();
    const listing = new ToolListing(server, { log, warnOnce, limits, timeoutMs, onChange });
    this.#members.set(server, { listing, isListed: false });
  }

  /** A server is no longer of the fleet; {@linkcode ToolRegistry.update} makes its tools leave. */
  remove(server: SupervisedServer): void {
    this.#members.get(server)?.listing.onStopped();
    this.#members.delete(server);
  }

  /** A new session. */
  onRunning(server: SupervisedServer): void {
    this.#members.get(server)?.listing.onRunning();
    this.#show(server, { isListed: true });
  }

  /** The server is failed or stopped: its tools leave, until it runs again. */
  onStopped(server: SupervisedServer): void {
    this.#members.get(server)?.listing.onStopped();
    this.#show(server, { isListed: false });
  }

  /** `notifications/tools/list_changed`. */
  onChanged(server: SupervisedServer): void {
    this.#members.get(server)?.listing.onChanged();
  }

  /** Joins the lists anew, and tells when an Agent sees a difference. */
  update(): void {
    const before = this.#directory;
    this.#directory = buildToolDirectory(
      this.#context.servers().map((server) => {
        const { listing, isListed = false } = this.#members.get(server) ?? {};
        return { config: server.config, tools: listing?.tools ?? [], isListed };
      }),
      this.#portraits,
    );
    for (const warning of this.#directory.warnings) this.#context.warnOnce.warn(warning);
    if (!isSameList(before.tools, this.#directory.tools)) this.#context.onChange();
  }

  /** Resolves when no list of this server is on its way. */
  async settled(server: SupervisedServer): Promise<void> {
    await this.#members.get(server)?.listing.settled();
  }

  #show(server: SupervisedServer, { isListed }: { readonly isListed: boolean }): void {
    const member = this.#members.get(server);
    if (member === undefined || member.isListed === isListed) return;
    member.isListed = isListed;
    this.update();
  }
}

/** A tool that is shown as before is the same object as before. */
function isSameList(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((tool, index) => tool === after[index]);
}
