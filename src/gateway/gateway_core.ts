/** What all clients of a gateway share. */
import { unknownName } from "../text/spelling.ts";
import type { Access } from "../http/mcp/access.ts";
import type { SessionFactory } from "../http/mcp/sessions.ts";
import { settledWithin } from "../async/abortable.ts";
import { BUILTIN_NAMES, makeBuiltins } from "../agent/toolkit/builtins/all.ts";
import type { Json, McpTool } from "../local_tools/mcp.ts";
import { OfficeGroup } from "../agent/group/office_group.ts";
import type { Office } from "../agent/toolkit/office.ts";
import { type OfficeChange, OfficeView } from "../agent/toolkit/office_view.ts";
import { OfficeCalls } from "../agent/toolkit/office_calls.ts";
import type { ToClientUri } from "../agent/toolkit/tool_definition.ts";
import { ToolNames } from "../agent/toolkit/tool_names.ts";
import { Toolset } from "../agent/toolkit/toolset.ts";
import { type Logger, silentLogger } from "../log.ts";
import { describeError } from "../text/text.ts";
import { toSeenName } from "../text/safe_text.ts";
import { followAwaited, ResourceSubscriptions } from "./resources/subscriptions.ts";
import { OfficeResources } from "./resources/office_resources.ts";
import { ScopedResources } from "./resources/scoped_resources.ts";
import { ResourceUris } from "./resources/uris.ts";
import { LOCAL_PROMPT_NAMES, makeLocalPrompts } from "./local_prompts.ts";
import { PinnedTools } from "./pinned_tools.ts";
import { OfficePrompts } from "./prompts.ts";
import { OfficeSkills } from "./skills/office_skills.ts";
import { createSession } from "./session.ts";
import { CallShares } from "./tool_handlers.ts";
import { CONNECTOR_TOOL_NAMES, isOfOpenAi } from "../local_tools/connector_answers.ts";
import { makeConnectorTools } from "./search/connector_tools.ts";
import { LongResults } from "./search/long_results.ts";
import { SEARCH_TOOL_NAMES } from "./search/search_tools.ts";
import { ToolIndex } from "./search/tool_index.ts";
import { calledTool, permissionOf, ScopedTools } from "./scoped_tools.ts";
import { SuspendedCalls } from "./questions.ts";
import {
  type Activity,
  concerns,
  type Gateway,
  type GatewayChange,
  type GatewayOptions,
  type ListName,
  type Scope,
  type SearchAndFetch,
  sees,
  type ToolsMode,
} from "./gateway_options.ts";

/** How long the first answer waits for the Server and for Computers that are slow, in milliseconds. */
const DEFAULT_PATIENCE_MS = 3_000;

export class GatewayCore implements Gateway {
  readonly #log: Logger;
  readonly #view: OfficeView;
  readonly #names: ToolNames;
  readonly #toolset: Toolset;
  readonly #calls: OfficeCalls;
  readonly #uris = new ResourceUris();
  readonly #resources: OfficeResources;
  readonly #subscriptions: ResourceSubscriptions;
  readonly #skills: OfficeSkills;
  readonly #prompts: OfficePrompts;
  readonly #asking = new SuspendedCalls();
  readonly #shares = new CallShares();
  readonly #hasBuiltins: boolean;
  readonly #mode: ToolsMode;
  readonly #connectorClients: SearchAndFetch;
  readonly #index = new ToolIndex();
  readonly #results = new LongResults();
  readonly #pinned: PinnedTools;
  readonly #ready: Promise<void>;
  readonly #listeners = new Set<(change: GatewayChange) => void>();
  readonly #onActivity: (activity: Activity) => void;
  #isClosed = false;

  constructor(agent: Office | Promise<Office>, options: GatewayOptions) {
    const { logger = silentLogger, computers, problem, memory } = options;
    const keep = guarded("keep", () => {
      const { given: names } = this.#names;
      memory?.keep({
        names,
        computers: agent instanceof OfficeGroup ? agent.names : [],
        pinned: this.#pinned.given,
      });
    }, logger);
    this.#log = logger;
    this.#view = new OfficeView({ computers, problem, logger });
    this.#hasBuiltins = options.builtinTools ?? true;
    this.#mode = options.tools ?? "all";
    this.#connectorClients = options.searchAndFetch ?? "auto";
    this.#pinned = new PinnedTools({
      onChange: options.onChange,
      given: memory?.kept.pinned,
      onPinned: keep,
    });
    const reserved = [...SEARCH_TOOL_NAMES, ...(this.#hasBuiltins ? BUILTIN_NAMES : [])];
    this.#names = new ToolNames({ given: memory?.kept.names, reserved });
    const toClientUri: ToClientUri = (uri, place) => this.#uris.toClient(uri, place);
    this.#toolset = new Toolset(this.#view, { names: this.#names, toClientUri, onNames: keep, logger });
    this.#calls = new OfficeCalls(this.#view, { toClientUri, timeoutMs: options.callTimeoutMs });
    const parts = { view: this.#view, uris: this.#uris, logger };
    this.#resources = new OfficeResources({
      ...parts,
      onLate: (computer) => this.#tell({ kind: "list", list: "resources", computer }),
    });
    this.#subscriptions = new ResourceSubscriptions(this.#view, {
      logger,
      onUpdated: (uri, computer) => this.#tell({ kind: "resource", uri, computer }),
    });
    this.#skills = new OfficeSkills({
      ...parts,
      onLate: (computer) => {
        for (const list of CHANGED_LISTS.skills) this.#tell({ kind: "list", list, computer });
      },
    });
    this.#prompts = new OfficePrompts({
      ...parts,
      skills: this.#skills,
      toClientUri,
      reserved: LOCAL_PROMPT_NAMES,
      onLate: (computer) => this.#tell({ kind: "list", list: "prompts", computer }),
    });
    this.#onActivity = guarded("onActivity", (activity: Activity) => options.onActivity?.(activity), logger);
    this.#view.onChange((change) => this.#tellLists(change));
    this.#ready = this.#begin(agent, options.patienceMs ?? DEFAULT_PATIENCE_MS);
  }

  /** The id of the office; `undefined` before the Agent has joined it. */
  get office(): string | undefined {
    return this.#view.office?.office;
  }

  /** Resolves when the tools of the office are known, or have taken too long. Never rejects. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** The tool of a Computer that a scope reaches, by the name that clients call it by. */
  findTool(name: string, scope: Scope): McpTool | undefined {
    const tool = this.#toolset.find(name);
    return tool !== undefined && concerns(tool, scope) ? tool.definition : undefined;
  }

  /** Whether a call needs more rights than its client has. One of a tool that the client does not reach needs none. */
  needsMore(
    call: { readonly name: string; readonly args: Json },
    scope: Scope,
    { rights, client }: Access,
  ): boolean {
    const isConnectorTool = CONNECTOR_TOOL_NAMES.some((name) => name === call.name);
    if (isConnectorTool && this.#isConnector(client)) return false;
    const tool = this.findTool(calledTool(call), scope);
    return tool !== undefined && permissionOf(tool, rights) === "none";
  }

  /**
   * Makes the servers for the clients of one scope, for either era of MCP.
   *
   * @param options `isPerRequest`: each server serves one request alone; `false` by default.
   */
  factory(
    scope: Scope = { kind: "all" },
    { isPerRequest = false }: { readonly isPerRequest?: boolean } = {},
  ): SessionFactory {
    const only = scope.kind === "computer" ? scope.computer : undefined;
    const reach = { view: this.#view, only, visible: scope.only };
    const locals = this.#hasBuiltins ? makeBuiltins(reach) : [];
    const toolParts = {
      calls: this.#calls,
      scope,
      locals,
      mode: this.#mode,
      index: this.#index,
      results: this.#results,
      pinned: this.#pinned,
    };
    const usual = new ScopedTools(this.#toolset, toolParts);
    const forConnectors = new ScopedTools(this.#toolset, {
      ...toolParts,
      connectors: makeConnectorTools(reach),
    });
    const toolsFor = (...names: (string | undefined)[]) =>
      names.some((name) => this.#isConnector(name)) ? forConnectors : usual;
    const computers = () => this.#computersOf(scope);
    const parts = {
      view: this.#view,
      resources: this.#resourcesOf(scope),
      subscriptions: this.#subscriptions,
      prompts: this.#prompts,
      skills: this.#skills,
      localPrompts: new Map(makeLocalPrompts(reach).map((prompt) => [prompt.definition.name, prompt])),
      asking: this.#asking,
      shares: this.#shares,
      toolsFor,
      computers,
      ready: () => this.#ready,
      office: () => this.office,
      onActivity: this.#onActivity,
      instructions: instructionsFor(scope, this.#mode) + absenceText(scope, this.#view),
      isPerRequest,
      onListChanged: (listener: (list: ListName) => void) => this.onListChanged(scope, listener),
      onResourceUpdated: (listener: (uri: string) => void) => this.onResourceUpdated(scope, listener),
    };
    return ({ era, access }) => createSession({ ...parts, access, isLegacy: era === "legacy" });
  }

  /**
   * Follows resources for a client, until the returned function is called; {@linkcode onChange} tells of their changes.
   * Those that nobody has yet are followed as soon as a Computer has them.
   */
  async followResources(uris: readonly string[], scope: Scope = { kind: "all" }): Promise<() => void> {
    await this.#ready;
    return await followAwaited(uris, {
      resources: this.#resourcesOf(scope),
      subscriptions: this.#subscriptions,
      onListChanged: (listener) =>
        this.onListChanged(scope, (list) => list === "resources" ? listener() : undefined),
      onFound: (uri, computer) => this.#tell({ kind: "resource", uri, computer }),
      logger: this.#log,
    });
  }

  /** Calls `listener` after each change for clients, until the returned function is called. */
  onChange(listener: (change: GatewayChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` after each change of a list of this scope, until the returned function is called. */
  onListChanged(scope: Scope, listener: (list: ListName) => void): () => void {
    return this.onChange((change) => {
      if (change.kind === "list" && concerns(change, scope)) listener(change.list);
    });
  }

  /** Calls `listener` after each change of a resource that somebody follows, until the returned function is called. */
  onResourceUpdated(scope: Scope, listener: (uri: string) => void): () => void {
    return this.onChange((change) => {
      if (change.kind === "resource" && concerns(change, scope)) listener(change.uri);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#asking.close();
    this.#subscriptions.close();
    this.#view[Symbol.dispose]();
    this.#listeners.clear();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #begin(agent: Office | Promise<Office>, patienceMs: number): Promise<void> {
    const connecting = Promise.resolve(agent);
    const following = this.#follow(connecting);
    await settledWithin(following, patienceMs);
    if (this.#view.office !== undefined) return this.#toolset.start();
    // An office that is reached later gets the same time, so that its tools are named together.
    void connecting.then(() => settledWithin(following, patienceMs), () => undefined).then(() => {
      this.#toolset.start();
      this.#tell({ kind: "list", list: "tools" });
    });
  }

  async #follow(connecting: Promise<Office>): Promise<void> {
    try {
      await this.#view.follow(await connecting);
    } catch (error) {
      // The host program has given up by itself, such as when its client is gone.
      const isGivenUp = error instanceof DOMException && error.name === "AbortError";
      if (!this.#isClosed && !isGivenUp) {
        this.#log.error("the office cannot be reached", { error: describeError(error) });
      }
    }
  }

  #isConnector(client: string | undefined): boolean {
    return this.#connectorClients === "always" || (this.#connectorClients === "auto" && isOfOpenAi(client));
  }

  #computersOf(scope: Scope): readonly string[] {
    return this.#view.computers.map(({ name }) => name).filter((computer) => concerns({ computer }, scope));
  }

  #resourcesOf(scope: Scope): ScopedResources {
    return new ScopedResources({
      view: this.#view,
      uris: this.#uris,
      all: this.#resources,
      computers: () => this.#computersOf(scope),
      sees: (computer) => sees(scope, computer),
    });
  }

  #tellLists(change: OfficeChange): void {
    const computer = "computer" in change ? change.computer : undefined;
    for (const list of CHANGED_LISTS[change.kind]) this.#tell({ kind: "list", list, computer });
  }

  #tell(change: GatewayChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

const CHANGED_LISTS: Readonly<Record<OfficeChange["kind"], readonly ListName[]>> = {
  members: ["tools", "resources", "prompts"],
  connection: ["tools", "resources", "prompts"],
  tools: ["tools"],
  windows: ["resources"],
  documents: ["resources"],
  resources: ["resources"],
  prompts: ["prompts"],
  skills: ["resources", "prompts"],
};

function absenceText(scope: Scope, view: OfficeView): string {
  const known = view.computers.map(({ name }) => name).filter((name) => sees(scope, name));
  if (scope.kind !== "computer" || !view.isConnected || known.includes(scope.computer)) return "";
  return ` ${unknownName("Computer", scope.computer, known)} is in the office now.`;
}

function instructionsFor(scope: Scope, mode: ToolsMode): string {
  const search = HOW_TO_SEARCH[scope.kind === "search" ? "search" : mode];
  if (scope.kind === "computer") {
    return `The tools, windows and documents of the Computer ${toSeenName(scope.computer)}.${search}`;
  }
  return "The tools, windows and documents of the Computers of an office: machines of people, which may come and go. " +
    `The metadata of each tool names its Computer.${search}`;
}

/** How a model comes to the tools, when they are not all in its list. */
const HOW_TO_SEARCH: Readonly<Record<ToolsMode, string>> = {
  all: "",
  search: " Find tools with find_tools, and call them with call_read_tool or call_tool.",
  auto: " Where find_tools is listed, find tools with it, and call them with call_read_tool or call_tool.",
};

/** Calls a listener of the host program; an error in it has no other effect than a log line. */
function guarded<Args extends unknown[]>(
  listener: string,
  call: (...args: Args) => void,
  logger: Logger,
): (...args: Args) => void {
  return (...args) => {
    try {
      call(...args);
    } catch (error) {
      logger.error("listener failed", { listener, error: describeError(error) });
    }
  };
}

/**
 * Presents the office of an Agent as an MCP server.
 *
 * @param agent The Agent, which must not be an observer; or a promise, while it is still connecting. Until then the
 *   office is empty.
 */
export function createGateway(agent: Office | Promise<Office>, options: GatewayOptions = {}): Gateway {
  return new GatewayCore(agent, options);
}

/**
 * What serves the clients of a gateway.
 *
 * @throws {TypeError} `gateway` was not made by {@linkcode createGateway}.
 */
export function coreOf(gateway: Gateway): GatewayCore {
  if (gateway instanceof GatewayCore) return gateway;
  throw new TypeError("Cannot serve this gateway: it was not made by createGateway()");
}
