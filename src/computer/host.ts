/** The MCP side of a Computer: its servers, their tools and resources. Knows nothing of the connection to an office. */
import { Followers } from "../async/followers.ts";
import { isDeepStrictEqual } from "node:util";
import { rateOf, TokenBucket } from "../async/token_bucket.ts";
import { type Logger, withModule } from "../log.ts";
import { ConfigurationError, ServerNotRunningError } from "../mcp/errors.ts";
import { Fleet } from "../mcp/supervision/fleet.ts";
import { memoryTokenStore } from "../mcp/auth/token_store.ts";
import type { ServerListener, ServerState } from "../mcp/supervision/server_state.ts";
import type { SupervisedServer } from "../mcp/supervision/supervised_server.ts";
import { WarnOnce } from "../mcp/warn_once.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../protocol/config.ts";
import { DEFAULT_PROTOCOL } from "../protocol/version.ts";
import type { SessionInfo } from "../protocol/office.ts";
import { unknownName } from "../text/spelling.ts";
import { describeError, shorten } from "../text/text.ts";
import { GIVEN_VIEWS, type UpdateKind } from "./office/office_link.ts";
import { BlobStore } from "./office/blob_store.ts";
import type { ComputerLimits } from "../config/limits.ts";
import { ListAnswers } from "./office/list_answer.ts";
import type { ComputerConfig } from "../config/config.ts";
import { changedInputs, filledMembers, inputIdsOf } from "../config/placeholders.ts";
import { describeProblem } from "../config/problem.ts";
import { OfficeAgent } from "./office/office_agent.ts";
import { type OfficeRules, officeRulesOf } from "./shared/office_rules.ts";
import type { InputSource } from "./inputs/sources.ts";
import { AgentTexts, MAX_LENGTH } from "./secrets/agent_texts.ts";
import { Redactor } from "./secrets/redaction.ts";
import { HostSignIns } from "./sign_ins.ts";
import type { ComputerOptions } from "./options.ts";
import { AgentChannel } from "./questions/agent_channel.ts";
import { ResourceDirectory } from "./resources/directory.ts";
import { ServerOffers } from "./offers/offers.ts";
import type { SharedParts } from "./shared/shared_parts.ts";
import { Skills } from "./skills/skills.ts";
import { ToolCalls, type ToolCallsContext } from "./tools/calls.ts";
import { ApprovedTools } from "./tools/approved_tools.ts";
import { ToolDirectory } from "./tools/directory.ts";
import { ToolCallHistory } from "./tools/history.ts";
import type { ComputerEvent } from "./shared/computer_events.ts";
import type { ProgressUpdate } from "./shared/running_call.ts";
import { vrlScriptOf } from "./tools/settings.ts";
import type { VrlEngine } from "./vrl/engine.ts";

/** The answers to the office in which a secret is masked; while there are more, errors tell no reason. */
const MASKED_ANSWERS = rateOf(20, 60_000);
const EMPTY_CONFIG: ComputerConfig = { form: "smcp", servers: [], inputs: [], warnings: [] };

export interface HostContext extends
  Pick<
    ComputerOptions,
    "name" | "autoApply" | "confirm" | "skills" | "tokens" | "answerQuestion" | "approvals"
  > {
  readonly config: ComputerConfig;
  /** The rules of the protocol version that the Computer speaks; those of 0.2 by default. */
  readonly rules?: OfficeRules | undefined;
  readonly inputs: InputSource;
  readonly limits: ComputerLimits;
  readonly log: Logger;
  /** Lists the members of the office; nobody by default. */
  readonly members?: (() => Promise<readonly SessionInfo[]>) | undefined;
  readonly isAwake?: ToolCallsContext["isAwake"];
  readonly onChange: (kind: UpdateKind) => void;
  /** A call that the Agent follows has made progress; ignored by default. */
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
}

/** The MCP servers that a new configuration changed, by name. */
export interface ConfigChange {
  /** Servers that are new. */
  readonly added: readonly string[];
  /** Servers that were removed. */
  readonly removed: readonly string[];
  /**
   * Servers that were restarted, because their transport, parameters, script, inputs or sign-in changed, or what is
   * settled at their start: the versions of MCP, and whether they may ask or show pages.
   */
  readonly restarted: readonly string[];
  /** Servers of which only other settings changed, such as those of tools; their sessions go on. */
  readonly adopted: readonly string[];
}

/** Runs the MCP servers of a Computer and answers for all of them together. */
export class McpHost implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly approved: ApprovedTools;
  readonly tools: ToolDirectory;
  readonly resources: ResourceDirectory;
  readonly offers: ServerOffers;
  readonly skills: Skills;
  readonly history: ToolCallHistory = new ToolCallHistory((text) => this.redact(text));
  /** Tells the owner's programs what happens. */
  readonly events: Followers<ComputerEvent>;
  readonly calls: ToolCalls;
  readonly channel: AgentChannel;
  readonly limits: ComputerLimits;
  readonly agent: OfficeAgent;
  readonly blobs: BlobStore;
  /** Fits lists into answers. */
  readonly lists: ListAnswers;
  readonly log: Logger;
  readonly signIns: HostSignIns;
  readonly rules: OfficeRules;
  /** Whether a secret is known, of any MCP server. */
  hasSecrets = false;
  readonly #context: HostContext;
  #vrl: Promise<VrlEngine> | undefined;
  readonly #redactor: Redactor = new Redactor();
  readonly #maskings = new TokenBucket(MASKED_ANSWERS);
  readonly #configWarnings: WarnOnce;
  #config: ComputerConfig = EMPTY_CONFIG;
  /** The name that each server has in the configuration, by the name by which the office knows it. */
  #writtenNames: ReadonlyMap<string, string> = new Map();

  constructor(context: HostContext) {
    this.#context = context;
    this.rules = context.rules ?? officeRulesOf(DEFAULT_PROTOCOL);
    const limits = this.limits = context.limits;
    this.blobs = new BlobStore(limits);
    const log = this.log = this.#redactor.wrap(context.log);
    this.events = new Followers(log);
    const { members } = context;
    this.agent = new OfficeAgent({ members, onChange: () => this.events.tell({ type: "connection" }), log });
    this.#configWarnings = new WarnOnce(withModule(log, "config"));
    const writtenNameOf = (server: string) => this.writtenNameOf(server);
    const redact = (text: string) => this.redact(text);
    this.signIns = new HostSignIns({
      config: () => this.#config,
      nameOf: writtenNameOf,
      inputs: context.inputs,
      tokens: context.tokens ?? memoryTokenStore(),
      learn: (server, secrets) => {
        this.#redactor.learnTokens(server, secrets);
        this.hasSecrets = true;
      },
      log: withModule(log, "mcp"),
    });
    this.fleet = new Fleet({
      limits,
      log: withModule(log, "mcp"),
      redact,
      listen: (server) => this.#listen(server),
      resolve: (server, signal) => this.#resolve(server, signal),
      authorize: (config, signal) => this.signIns.authorize(config, signal),
    });
    const shared: SharedParts = {
      fleet: this.fleet,
      rules: this.rules,
      limits,
      log: withModule(log, "resources"),
      warnOnce: new WarnOnce(withModule(log, "resources")),
      writtenNameOf,
      redact,
      onChange: (view) => this.#onChange(view),
    };
    this.skills = new Skills({
      ...shared,
      refreshList: (server, timeoutMs) => this.resources.getServerResources(server).refreshList(timeoutMs),
    });
    this.lists = new ListAnswers({ ...limits, warnOnce: shared.warnOnce });
    this.resources = new ResourceDirectory({ ...shared, skills: this.skills, history: this.history });
    this.offers = new ServerOffers({
      ...shared,
      routes: this.resources.routes,
      toolNames: () => this.tools.namesByServer,
    });
    const toolLog = withModule(log, "tools");
    const toolLogs = { log: toolLog, warnOnce: new WarnOnce(toolLog) };
    this.approved = new ApprovedTools({
      ...toolLogs,
      store: context.approvals,
      onChange: () => this.tools.update(),
    });
    const toolParts = { ...shared, approved: this.approved, ...toolLogs };
    this.tools = new ToolDirectory({ ...toolParts, autoApply: context.autoApply });
    this.channel = new AgentChannel(limits);
    this.calls = new ToolCalls({
      ...toolParts,
      directory: this.tools,
      history: this.history,
      confirm: context.confirm,
      answerQuestion: context.answerQuestion,
      channel: this.channel,
      agent: this.agent,
      isAwake: context.isAwake,
      name: context.name,
      onPaused: () => {
        for (const view of GIVEN_VIEWS) if (view !== "skills") context.onChange(view);
        if (this.skills.mayHaveAny) context.onChange("skills");
      },
      onProgress: context.onProgress,
      events: this.events,
      vrl: () => this.#loadVrl(),
      maskerOf: ({ request, isLocal }) => {
        const mask = (text: string) => shorten(this.redact(text), MAX_LENGTH);
        return isLocal ? { mask, maskFailure: mask } : this.textsFor(request);
      },
    });
    this.agent.follow(this.channel, this.calls, this.resources, this.blobs);
    this.configure(context.config);
  }

  get config(): ComputerConfig {
    return this.#config;
  }

  /** The state of each MCP server in order of precedence, with known secrets masked. */
  get states(): Map<string, ServerState> {
    const states = this.fleet.servers.map(({ name, state, status }): [string, ServerState] => {
      return [name, this.#redactor.redactState({ ...state, status })];
    });
    return new Map(states);
  }

  /** The last lines of a server's journal, without known secrets. */
  logOf(server: SupervisedServer): string[] {
    return server.journalLines.map((line) => this.redact(line));
  }

  writtenNameOf(server: string): string {
    return this.#writtenNames.get(server) ?? server;
  }

  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  textsFor(request: unknown): AgentTexts {
    return new AgentTexts(request, { redactor: this.#redactor, maskings: this.#maskings, log: this.log });
  }

  /**
   * Takes a new configuration: starts, stops and restarts the servers that it changes, and no others. Returns at once;
   * stopped processes have ended when {@linkcode Fleet.quiet} resolves.
   */
  configure(config: ComputerConfig): ConfigChange {
    const before = this.#config;
    const members = new Set(this.fleet.servers);
    this.#config = config;
    const { protocolVersion: edited } = config;
    if (before !== EMPTY_CONFIG && edited !== before.protocolVersion) {
      const message = "an edit of protocol_version takes effect when the Computer is started again";
      this.log.warn(message, { now: this.rules.protocol, edited });
    }
    for (const warning of config.warnings) this.#configWarnings.warn(describeProblem(warning));
    const { servers, writtenNames, warnings } = this.rules.toOfficeServers(config);
    for (const warning of warnings) this.#configWarnings.warn(warning);
    this.#writtenNames = writtenNames;
    const { replaced, ...change } = this.fleet.follow(servers);
    for (const server of members.difference(new Set(this.fleet.servers))) {
      this.tools.remove(server);
      this.resources.remove(server);
      this.skills.remove(server);
      this.offers.prompts.onStopped(server);
    }
    const fresh = [...change.added, ...replaced];
    const restarted = this.restartUsersOf(changedInputs(before, config), new Set(fresh));
    this.tools.update();
    this.resources.routes.update();
    this.skills.follow([...this.#context.skills ?? [], ...config.skills ?? []]);
    const { servers: old, inputs } = before;
    if (!isDeepStrictEqual([old, inputs], [config.servers, config.inputs])) this.#onChange("config");
    return { ...change, restarted: [...replaced, ...restarted] };
  }

  /**
   * Finds an MCP server by its name in the office or in the configuration.
   *
   * @throws {TypeError} when no server has that name.
   */
  serverNamed(name: string): SupervisedServer {
    const server = this.fleet.get(name) ?? this.fleet.servers.find((each) => this.#isNamed(each, name));
    if (server !== undefined) return server;
    throw new TypeError(unknownName("server", name, this.fleet.servers.map((each) => each.name)));
  }

  /** The same for a server to be started; also throws when the configuration disables it. */
  startableServer(name: string): SupervisedServer {
    const server = this.serverNamed(name);
    if (!server.config.disabled) return server;
    throw new TypeError(`Cannot start MCP server "${name}": disabled in its configuration`);
  }

  /** Resolves when each of these servers, all by default, has listed its tools or failed. */
  async settled(names?: readonly string[]): Promise<void> {
    const servers = names === undefined
      ? this.fleet.servers
      : this.fleet.servers.filter((server) => names.some((name) => this.#isNamed(server, name)));
    await Promise.all(servers.map(async (server) => {
      await server.settled();
      await this.tools.settled(server);
    }));
  }

  /** Stops all MCP servers. Idempotent. */
  async close(): Promise<void> {
    this.calls.close();
    this.blobs.forgetAgent();
    await Promise.all([this.fleet.close(), this.skills.close(), this.approved.close()]);
    (await this.#vrl)?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #onChange(view: UpdateKind): void {
    if (!this.calls.owner.isPaused || !GIVEN_VIEWS.has(view)) this.#context.onChange(view);
    this.events.tell({ type: "view", view });
  }

  #isNamed(server: SupervisedServer, name: string): boolean {
    return server.name === name || this.#writtenNames.get(server.name) === name;
  }

  /** Prepares a start: compiles the VRL script and resolves the inputs. */
  async #resolve(server: MCPServerConfig, signal: AbortSignal): Promise<ResolvedServerConfig> {
    const script = vrlScriptOf(server);
    try {
      if (script !== undefined) await (await this.#loadVrl()).compile(script, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TypeError) throw new ConfigurationError(describeError(error), { cause: error });
      throw new ServerNotRunningError({
        reason: "its VRL script cannot be compiled",
        detail: describeError(error),
        cause: error,
      });
    }
    const { inputs } = this.#config;
    const [{ resolveInputs }, { secretsOf }] = await Promise.all([
      import("./inputs/resolve.ts"),
      import("./secrets/values.ts"),
    ]);
    const resolved = await resolveInputs(server, { inputs, source: this.#context.inputs, signal });
    const { all, ...more } = secretsOf(server, resolved);
    this.#redactor.learn(server.name, all, more);
    this.hasSecrets ||= all.length > 0;
    return resolved;
  }

  #loadVrl(): Promise<VrlEngine> {
    return this.#vrl ??= import("./vrl/engine.ts").then(({ VrlEngine }) => new VrlEngine());
  }

  /** Passes on the events of a server while it belongs to the fleet. */
  #listen(server: SupervisedServer): ServerListener {
    const ifMember = (action: () => void) => {
      if (this.fleet.get(server.name) === server) action();
    };
    const resources = () => this.resources.getServerResources(server);
    this.tools.add(server);
    return {
      onRunning: (connection) =>
        ifMember(() => {
          this.tools.onRunning(server);
          resources().onRunning(connection);
          this.offers.prompts.onRunning(server, connection);
          this.skills.onRunning(server);
        }),
      onLog: () => this.events.tell({ type: "log", server: server.name }),
      onStateChange: ({ status }) =>
        ifMember(() => {
          this.events.tell({ type: "server", name: server.name, status: server.status });
          if (status !== "failed" && status !== "stopped") return;
          this.tools.onStopped(server);
          resources().onStopped();
          this.offers.prompts.onStopped(server);
          this.skills.onStopped(server);
        }),
      onToolsChanged: () => ifMember(() => this.tools.onChanged(server)),
      onPromptsChanged: () => ifMember(() => this.offers.prompts.onChanged(server)),
      onResourcesChanged: () => ifMember(() => resources().onListChanged()),
      onResourceUpdated: (uri) => ifMember(() => resources().onUpdated(uri)),
      onNotificationsLost: () =>
        ifMember(() => {
          this.tools.onChanged(server);
          resources().onNotificationsLost();
          this.offers.prompts.onChanged(server);
          this.skills.onRunning(server);
        }),
    };
  }

  /** Restarts the servers whose parameters use one of these inputs; returns their names. */
  restartUsersOf(inputs: ReadonlySet<string>, except: ReadonlySet<string> = new Set()): string[] {
    if (inputs.size === 0) return [];
    const users = this.fleet.servers.filter(({ name, isStopped, config }) =>
      !isStopped && !except.has(name) &&
      !inputIdsOf(filledMembers(config)).isDisjointFrom(inputs)
    );
    for (const server of users) server.restart();
    return users.map(({ name }) => name);
  }
}
