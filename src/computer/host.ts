/** The MCP side of a Computer: its servers, their tools and resources, and what changed. No office in sight. */
import type { Logger } from "../log.ts";
import { Fleet } from "../mcp/fleet.ts";
import type { ServerLimits, ServerListener, SupervisedServer } from "../mcp/supervised_server.ts";
import { organizeDesktop } from "../organizer/desktop.ts";
import { organizeShelves } from "../organizer/finder_shelves.ts";
import type { OrganizerWarning } from "../organizer/warning.ts";
import type { Desktop } from "../protocol/desktop.ts";
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { badRequest } from "../protocol/errors.ts";
import { windowIdentity } from "../uri/window_identity.ts";
import type { UpdateKind } from "./announcer.ts";
import type { ReadLimits } from "./catalogue.ts";
import type { ComputerConfig } from "./config.ts";
import { describeProblem } from "./config_problem.ts";
import { ToolCallHistory } from "./history.ts";
import { type InputSource, resolveInputs } from "./inputs.ts";
import { ResourceDirectory } from "./resource_directory.ts";
import { buildToolDirectory, type ToolDirectory } from "./tool_directory.ts";
import { type Confirm, ToolCalls } from "./tool_calls.ts";
import { ToolListing } from "./tool_listing.ts";
import { WarnOnce } from "../mcp/warn_once.ts";

/** What a host needs. */
export interface HostContext {
  readonly config: ComputerConfig;
  readonly inputs: InputSource;
  readonly confirm: Confirm | undefined;
  readonly limits: ServerLimits & ReadLimits;
  readonly log: Logger;
  readonly onChange: (kind: UpdateKind) => void;
}

/** The MCP servers of a Computer as one. */
export class McpHost implements AsyncDisposable {
  readonly config: ComputerConfig;
  readonly fleet: Fleet;
  readonly resources: ResourceDirectory;
  readonly history: ToolCallHistory = new ToolCallHistory();
  readonly calls: ToolCalls;
  readonly #context: HostContext;
  readonly #warnOnce: WarnOnce;
  readonly #listings = new Map<SupervisedServer, ToolListing>();
  #directory: ToolDirectory | undefined;

  constructor(context: HostContext) {
    this.#context = context;
    this.config = context.config;
    this.#warnOnce = new WarnOnce(context.log);
    const { config, inputs, log, limits } = context;
    this.fleet = new Fleet({
      limits,
      log,
      listen: (server) => this.#listen(server),
      resolve: (server, signal) => resolveInputs(server, { inputs: config.inputs, source: inputs, signal }),
    });
    this.resources = new ResourceDirectory(this.fleet, {
      limits,
      log,
      warnOnce: this.#warnOnce,
      onDesktopChange: () => context.onChange("desktop"),
      onFinderChange: () => context.onChange("finder"),
      onHostsChange: () => this.resources.warnOfContestedHosts(),
    });
    this.calls = new ToolCalls({
      fleet: this.fleet,
      directory: () => this.directory,
      history: this.history,
      confirm: context.confirm,
      log,
    });
    for (const warning of config.warnings) log.warn(describeProblem(warning));
    for (const server of config.servers) {
      if (typeof server.vrl === "string") {
        log.warn("vrl is not supported yet: results pass as they are", { server: server.name });
      }
      this.fleet.add(server);
    }
  }

  /** All tools, as they were listed last. Worked out anew only after a change. */
  get directory(): ToolDirectory {
    if (this.#directory !== undefined) return this.#directory;
    const directory = buildToolDirectory(
      this.fleet.servers.map((server) => ({
        config: server.config,
        tools: this.#toolsOf(server).tools,
        isListed: server.state.status !== "failed" && server.state.status !== "stopped",
      })),
    );
    for (const warning of directory.warnings) this.#warnOnce.warn(warning);
    return this.#directory = directory;
  }

  /**
   * The Desktop.
   *
   * @param options `size` and `window` as in `client:get_desktop`; `timeoutMs`: how long it may take.
   * @throws {SmcpError} 400 when `window` is no window URI.
   */
  async desktop(
    options: {
      readonly size?: number | undefined;
      readonly window?: string | undefined;
      readonly timeoutMs: number;
    },
  ): Promise<Desktop[]> {
    const { size, window, timeoutMs } = options;
    const identity = window === undefined ? undefined : windowIdentity(window);
    if (window !== undefined && identity === undefined) {
      throw badRequest("window", `Cannot show window "${window}": not a window:// URI`);
    }
    if (size !== undefined && size <= 0) return [];
    const windows = await this.resources.windows({ identity, timeoutMs });
    return organizeDesktop(windows, { size, history: this.history.servers, onWarning: this.#onWarning });
  }

  /**
   * The Finder's catalogue.
   *
   * @throws {SmcpError} 400 when `offset` or `limit` is negative or no integer.
   */
  async finder(query: {
    readonly keywords?: readonly string[] | undefined;
    readonly fileType?: string | undefined;
    readonly offset?: number | undefined;
    readonly limit?: number | undefined;
    readonly timeoutMs: number;
  }): Promise<{ documents: DPEDocumentSummary[]; totalCount: number }> {
    const shelves = await this.resources.documents(query);
    return organizeShelves(shelves, { ...query, history: this.history.servers });
  }

  /** Resolves when each server has started and listed its tools, or has failed to. */
  async settled(): Promise<void> {
    await this.fleet.settled();
    await Promise.all(this.#listings.values().map((listing) => listing.settled()));
  }

  /** Stops all MCP servers. Idempotent. */
  async close(): Promise<void> {
    await this.fleet.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #onWarning = ({ message, server, uri }: OrganizerWarning): void => {
    this.#warnOnce.warn(message, { server, uri });
  };

  #listen(server: SupervisedServer): ServerListener {
    const catalogue = () => this.resources.of(server);
    return {
      onRunning: (connection) => {
        this.#toolsOf(server).onRunning();
        catalogue().onRunning(connection);
      },
      onStateChange: () => this.#onStateChange(server),
      onToolsChanged: () => this.#toolsOf(server).onChanged(),
      onResourcesChanged: () => catalogue().onListChanged(),
      onResourceUpdated: (uri) => catalogue().onUpdated(uri),
    };
  }

  /** What leaves with a server that is failed or stopped, or comes back with one that runs again, is a change. */
  #onStateChange(server: SupervisedServer): void {
    const { status } = server.state;
    if (status === "starting" || status === "retrying") return;
    this.#directory = undefined;
    if (status === "running") return;
    const listing = this.#toolsOf(server);
    listing.close();
    if (listing.tools.length > 0) this.#context.onChange("tools");
    this.resources.of(server).onStopped();
  }

  #toolsOf(server: SupervisedServer): ToolListing {
    let listing = this.#listings.get(server);
    if (listing === undefined) {
      listing = new ToolListing(server, {
        log: this.#context.log,
        timeoutMs: this.#context.limits.readTimeoutMs,
        onChange: () => {
          this.#directory = undefined;
          this.#context.onChange("tools");
        },
      });
      this.#listings.set(server, listing);
    }
    return listing;
  }
}
