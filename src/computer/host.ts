/** The MCP side of a Computer: its servers, their tools and resources, and what changed. No office in sight. */
import { isDeepStrictEqual } from "node:util";
import { type Logger, withModule } from "../log.ts";
import { ConfigurationError } from "../mcp/errors.ts";
import { Fleet } from "../mcp/supervision/fleet.ts";
import type { ServerLimits } from "../mcp/limits.ts";
import type { ServerListener, ServerState, SupervisedServer } from "../mcp/supervision/server.ts";
import { WarnOnce } from "../mcp/warn_once.ts";
import { runInTurns } from "../async/turns.ts";
import { arrangeDesktop } from "../organizer/desktop.ts";
import { type DesktopWindow, renderWindow } from "../organizer/windows.ts";
import { type FinderQueryOptions, organizeShelves } from "../organizer/finder.ts";
import type { OrganizerWarning } from "../organizer/warning.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../protocol/config.ts";
import type { Desktop } from "../protocol/desktop.ts";
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { isRecord } from "../json.ts";
import { badRequest, type ErrorDetails } from "../protocol/errors.ts";
import { describeError, shorten } from "../text.ts";
import { windowIdentity } from "../uri/window_identity.ts";
import type { UpdateKind } from "./office/announcer.ts";
import { type BlobLimits, BlobStore, DEFAULT_BLOB_LIMITS } from "./office/blob_store.ts";
import {
  type CallLimits,
  DEFAULT_CALL_LIMITS,
  DEFAULT_LIST_LIMITS,
  type ListLimits,
  type ReadLimits,
} from "./limits.ts";
import { fitList, type FitOptions, ItemSizes, type ListItem } from "./office/list_answer.ts";
import type { ComputerConfig } from "../config/config.ts";
import { inputIdsOf } from "../config/placeholders.ts";
import { describeProblem } from "../config/problem.ts";
import type { Confirm } from "./tools/confirmation.ts";
import { OfficeAgent } from "./office/attendance.ts";
import { ToolCallHistory } from "./tools/history.ts";
import { resolveInputs } from "./inputs/resolve.ts";
import type { InputSource } from "./inputs/sources.ts";
import { Redactor } from "./secrets/redaction.ts";
import { secretsOf } from "./secrets/values.ts";
import { ResourceDirectory } from "./resources/directory.ts";
import { ResourceTemplates } from "./resources/templates.ts";
import { ResourceWatch } from "./resources/watch.ts";
import { ToolCalls } from "./tools/calls.ts";
import { ToolDirectory } from "./tools/directory.ts";
import { vrlScriptOf } from "./tools/settings.ts";
import { VrlEngine } from "./vrl/engine.ts";

/** The most warnings about the windows of one server for one Desktop. */
const MAX_WARNINGS = 20;
/** The longest window URI that is looked for, in characters. */
const MAX_URI_LENGTH = 8_192;
/** The longest one that is shown whole in an error. */
const MAX_SHOWN_URI_LENGTH = 200;

const EMPTY_CONFIG: ComputerConfig = { form: "smcp", servers: [], inputs: [], warnings: [] };

/** What a host needs. */
export interface HostContext {
  readonly config: ComputerConfig;
  readonly inputs: InputSource;
  readonly confirm: Confirm | undefined;
  readonly limits: ServerLimits & ReadLimits & Partial<CallLimits & BlobLimits & ListLimits>;
  readonly log: Logger;
  readonly onChange: (kind: UpdateKind) => void;
}

/** What a new configuration did to the MCP servers, by name. */
export interface ConfigChange {
  /** New. */
  readonly added: readonly string[];
  /** Gone. */
  readonly removed: readonly string[];
  /** Stopped and started again: their transport, parameters, script or inputs changed. */
  readonly restarted: readonly string[];
  /** Changed in what the Computer makes of their tools; their sessions go on. */
  readonly adopted: readonly string[];
}

/** The MCP servers of a Computer as one. */
export class McpHost implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly tools: ToolDirectory;
  readonly resources: ResourceDirectory;
  /** What the Agent subscribed to, and what of it changed. */
  readonly watch: ResourceWatch;
  /** What can be read beside what is listed. */
  readonly templates: ResourceTemplates;
  readonly history: ToolCallHistory = new ToolCallHistory();
  readonly calls: ToolCalls;
  /** What the office may ask at once. */
  readonly callLimits: CallLimits;
  /** Who calls from the office. */
  readonly agent: OfficeAgent = new OfficeAgent();
  /** What the Agent has still to fetch of answers that were too large. */
  readonly blobs: BlobStore;
  /** Masks what is known to be secret. */
  readonly log: Logger;
  readonly #context: HostContext;
  readonly #vrl: VrlEngine = new VrlEngine();
  readonly #redactor: Redactor = new Redactor();
  readonly #limits: ServerLimits & ReadLimits & ListLimits;
  readonly #itemSizes = new ItemSizes();
  readonly #warnOnce: WarnOnce;
  readonly #configWarnings: WarnOnce;
  #config: ComputerConfig = EMPTY_CONFIG;

  constructor(context: HostContext) {
    this.#context = context;
    const limits = this.#limits = { ...DEFAULT_LIST_LIMITS, ...context.limits };
    this.callLimits = { ...DEFAULT_CALL_LIMITS, ...limits };
    this.blobs = new BlobStore({ ...DEFAULT_BLOB_LIMITS, ...limits });
    const log = this.log = this.#redactor.wrap(context.log);
    this.#warnOnce = new WarnOnce(withModule(log, "resources"));
    this.#configWarnings = new WarnOnce(withModule(log, "config"));
    this.fleet = new Fleet({
      limits,
      log: withModule(log, "mcp"),
      redact: (text) => this.redact(text),
      listen: (server) => this.#listen(server),
      resolve: (server, signal) => this.#resolve(server, signal),
    });
    const { maxSubscriptions } = limits;
    this.watch = new ResourceWatch({ maxSubscriptions, onChange: () => context.onChange("resources") });
    this.resources = new ResourceDirectory(this.fleet, {
      limits,
      watch: this.watch,
      log: withModule(log, "resources"),
      warnOnce: this.#warnOnce,
      onDesktopChange: () => context.onChange("desktop"),
      onFinderChange: () => context.onChange("finder"),
      onHostsChange: () => this.resources.warnOfContestedHosts(),
    });
    this.templates = new ResourceTemplates({ fleet: this.fleet, limits, warnOnce: this.#warnOnce });
    this.tools = new ToolDirectory({
      servers: () => this.fleet.servers,
      log: withModule(log, "tools"),
      warnOnce: new WarnOnce(withModule(log, "tools")),
      limits,
      timeoutMs: limits.readTimeoutMs,
      onChange: () => context.onChange("tools"),
    });
    this.calls = new ToolCalls({
      fleet: this.fleet,
      directory: this.tools,
      history: this.history,
      confirm: context.confirm,
      agent: this.agent,
      limits: this.callLimits,
      vrl: this.#vrl,
      redact: (text) => this.redact(text),
      log: withModule(log, "tools"),
    });
    this.configure(context.config);
  }

  /** The configuration that holds. */
  get config(): ComputerConfig {
    return this.#config;
  }

  /** The state of each MCP server, in order of precedence; what is known to be secret is masked. */
  get states(): Map<string, ServerState> {
    return new Map(
      this.fleet.servers.map(({ name, state, status }) => [name, this.#redactState({ ...state, status })]),
    );
  }

  /** The last lines that a server wrote, and what became of it; what is known to be secret is masked. */
  logOf(server: SupervisedServer): string[] {
    return server.log.map((line) => this.redact(line));
  }

  /** The text with what is known to be secret as `***`. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  /** The same for an error's details, however deep. */
  redactDetails(details: ErrorDetails): ErrorDetails {
    const redacted = this.#redactor.redactDeep(details);
    return isRecord(redacted) ? redacted : {};
  }

  /**
   * Becomes what `config` says: starts, stops and restarts the servers that it touches, and no other. Returns at
   * once; what was stopped is gone when {@linkcode Fleet.quiet} resolves.
   */
  configure(config: ComputerConfig): ConfigChange {
    const before = this.#config;
    const members = new Set(this.fleet.servers);
    this.#config = config;
    for (const warning of config.warnings) this.#configWarnings.warn(describeProblem(warning));
    const { replaced, ...change } = this.fleet.follow(config.servers);
    for (const server of members.difference(new Set(this.fleet.servers))) {
      this.tools.remove(server);
      this.resources.remove(server);
    }
    const fresh = [...change.added, ...replaced];
    const restarted = this.#restartUsersOf(changedInputs(before, config), new Set(fresh));
    this.tools.update();
    this.resources.warnOfContestedHosts();
    if (!isSameConfig(before, config)) this.#context.onChange("config");
    return { ...change, restarted: [...replaced, ...restarted] };
  }

  /** Restarts the servers whose parameters name one of these inputs; gives their names. */
  restartUsersOf(inputs: ReadonlySet<string>): string[] {
    return this.#restartUsersOf(inputs, new Set());
  }

  /**
   * The Desktop.
   *
   * @param options `size` and `window` as in `client:get_desktop`; `timeoutMs`: how long it may take; `limitBytes`: the
   *   room for all of it, without end by default.
   * @throws {SmcpError} 400 when `window` is no window URI.
   */
  async desktop(
    options: {
      readonly size?: number | undefined;
      readonly window?: string | undefined;
      readonly timeoutMs: number;
      readonly limitBytes?: number | undefined;
    },
  ): Promise<Desktop[]> {
    const windows = await this.windows(options);
    const items = windows.map((window) => ({
      server: window.server,
      name: window.resource.uri,
      key: window.contents ?? window,
      render: () => renderWindow(window),
    }));
    const { limitBytes = Infinity } = options;
    return await this.fit(items, { what: "windows", limitBytes, keeps: "first" });
  }

  /** What of a list fits into an answer; the servers that contribute most give up most, with a warning. */
  fit<T>(items: readonly ListItem<T>[], options: Omit<FitOptions, "warnOnce">): Promise<T[]> {
    const limitBytes = options.limitBytes === Infinity
      ? Infinity
      : Math.min(options.limitBytes, this.#limits.maxListAnswerBytes);
    return fitList(items, this.#itemSizes, { ...options, limitBytes, warnOnce: this.#warnOnce });
  }

  /**
   * The Finder's catalogue.
   *
   * @param query `timeoutMs`: how long it may take.
   * @throws {SmcpError} 400 when `offset` or `limit` is negative or no integer, or when there is too much to look for.
   */
  async finder(
    query: Omit<FinderQueryOptions, "history"> & { readonly timeoutMs: number },
  ): Promise<{ documents: DPEDocumentSummary[]; totalCount: number }> {
    const shelves = await this.resources.documents(query);
    return await runInTurns(organizeShelves(shelves, { ...query, history: this.history.servers }));
  }

  /** The windows of the Desktop, not rendered yet. Options and errors are those of {@linkcode McpHost.desktop}. */
  async windows(options: Parameters<McpHost["desktop"]>[0]): Promise<DesktopWindow[]> {
    const { size, window, timeoutMs } = options;
    const identity = window === undefined ? undefined : windowIdentity(window.slice(0, MAX_URI_LENGTH + 1));
    if (window !== undefined && (identity === undefined || window.length > MAX_URI_LENGTH)) {
      const shown = shorten(window, MAX_SHOWN_URI_LENGTH);
      throw badRequest("window", `Cannot show window "${shown}": not a window:// URI`);
    }
    if (size !== undefined && size <= 0) return [];
    const windows = await this.resources.windows({ identity, timeoutMs });
    return arrangeDesktop(windows, {
      size,
      history: this.history.servers,
      onWarning: this.#windowWarnings(),
    });
  }

  /** Resolves when each of these servers, all by default, has started and listed its tools, or has failed to. */
  async settled(names?: readonly string[]): Promise<void> {
    const servers = this.fleet.servers.filter(({ name }) => names?.includes(name) ?? true);
    await Promise.all(servers.map(async (server) => {
      await server.settled();
      await this.tools.settled(server);
    }));
  }

  /** Stops all MCP servers. Idempotent. */
  async close(): Promise<void> {
    this.calls.close();
    this.blobs.endOffice();
    await this.fleet.close();
    this.#vrl.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What a start needs first: a VRL script that compiles, and the inputs' values. */
  async #resolve(server: MCPServerConfig, signal: AbortSignal): Promise<ResolvedServerConfig> {
    const script = vrlScriptOf(server);
    try {
      if (script !== undefined) await this.#vrl.compile(script, { signal });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new ConfigurationError(describeError(error), { cause: error });
    }
    const { inputs } = this.#config;
    const resolved = await resolveInputs(server, { inputs, source: this.#context.inputs, signal });
    this.#redactor.learn(server.name, secretsOf(server, resolved));
    return resolved;
  }

  /** Logs what is wrong with windows, up to a bounded number of lines for each server. */
  #windowWarnings(): (warning: OrganizerWarning) => void {
    const counts = new Map<string, number>();
    return ({ message, server, uri }) => {
      const count = (counts.get(server) ?? 0) + 1;
      counts.set(server, count);
      if (count <= MAX_WARNINGS) this.#warnOnce.warn(message, { server, uri });
    };
  }

  #redactState({ lastError, stderrTail, ...state }: ServerState): ServerState {
    return {
      ...state,
      ...(lastError === undefined ? {} : { lastError: this.redact(lastError) }),
      ...(stderrTail === undefined ? {} : { stderrTail: this.#redactor.redactTail(stderrTail) }),
    };
  }

  /** What a server tells counts for as long as it is of the fleet. */
  #listen(server: SupervisedServer): ServerListener {
    const heard = (hear: () => void) => {
      if (this.fleet.get(server.name) === server) hear();
    };
    const catalogue = () => this.resources.of(server);
    this.tools.add(server);
    return {
      onRunning: (connection) =>
        heard(() => {
          this.tools.onRunning(server);
          catalogue().onRunning(connection);
        }),
      onStateChange: ({ status }) =>
        heard(() => {
          if (status !== "failed" && status !== "stopped") return;
          this.tools.onStopped(server);
          catalogue().onStopped();
        }),
      onToolsChanged: () => heard(() => this.tools.onChanged(server)),
      onResourcesChanged: () => heard(() => catalogue().onListChanged()),
      onResourceUpdated: (uri) => heard(() => catalogue().onUpdated(uri)),
      onNotificationsLost: () =>
        heard(() => {
          this.tools.onChanged(server);
          catalogue().onNotificationsLost();
        }),
    };
  }

  #restartUsersOf(inputs: ReadonlySet<string>, spared: ReadonlySet<string>): string[] {
    if (inputs.size === 0) return [];
    const users = this.fleet.servers.filter(({ name, isStopped, config }) =>
      !isStopped && !spared.has(name) &&
      !inputIdsOf(config.server_parameters).isDisjointFrom(inputs)
    );
    for (const server of users) server.restart();
    return users.map(({ name }) => name);
  }
}

/** Whether there is nothing to tell an Agent, or only a warning. */
function isSameConfig(one: ComputerConfig, other: ComputerConfig): boolean {
  return isDeepStrictEqual([one.servers, one.inputs], [other.servers, other.inputs]);
}

/** The ids of inputs that are new, gone or may have another value; how one is described changes no value. */
function changedInputs(before: ComputerConfig, after: ComputerConfig): Set<string> {
  const definitions = ({ inputs }: ComputerConfig) =>
    new Map(inputs.map((input) => [input.id, { ...input, description: "" }]));
  const [old, next] = [definitions(before), definitions(after)];
  const ids = new Set(old.keys()).union(new Set(next.keys()));
  return new Set([...ids].filter((id) => !isDeepStrictEqual(old.get(id), next.get(id))));
}
