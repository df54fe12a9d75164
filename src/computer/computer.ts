/** The Computer: runs MCP servers and answers the Agent of an office for them. */
import { silentLogger } from "../log.ts";
import type { ServerState } from "../mcp/supervision/server_state.ts";
import { abortable, settledWithin } from "../async/abortable.ts";
import type { FinderQueryOptions } from "../organizer/finder.ts";
import type { FinderPage } from "../protocol/finder.ts";
import { renderWindow } from "../organizer/windows.ts";
import type { SentComputerConfig } from "../protocol/config.ts";
import type { Desktop } from "../protocol/desktop.ts";
import { UPDATE_PROGRESS_EVENT } from "../protocol/events.ts";
import { nameProblem } from "../protocol/names.ts";
import type { ReadResourceRet } from "../protocol/resources.ts";
import type { CallToolResult, SMCPTool } from "../protocol/tools.ts";
import { assertProtocol, DEFAULT_PROTOCOL, type ProtocolMinor } from "../protocol/version.ts";
import { DEFAULT_LIMITS } from "../config/limits.ts";
import { type ComputerOptions, type LocalCallOptions, toLocalCall } from "./options.ts";
import { type LocalRequestOptions, toMilliseconds, toSeconds } from "./shared/shared_parts.ts";
import { type ComputerConfig, parseConfig } from "../config/config.ts";
import type { ComputerEvent, HistoryRecord } from "./shared/computer_events.ts";
import type { ComputerCalls } from "./tools/owner_calls.ts";
import { type ConfigChange, McpHost } from "./host.ts";
import { LocalMcp } from "./local_mcp.ts";
import { checkInputValue, findInput, InputValues } from "./inputs/sources.ts";
import {
  type ConnectionState,
  type ConnectOptions,
  type JoinOptions,
  OfficeLink,
  type OfficeListener,
} from "./office/office_link.ts";
import type { InputValue } from "../config/placeholders.ts";
import { officeRulesOf } from "./shared/office_rules.ts";
import { readResource } from "./resources/read.ts";
import { Uploads } from "./uploads/uploads.ts";
import type { ComputerSignIns } from "./sign_ins.ts";
import type { ComputerSkills } from "./skills/reading.ts";

/**
 * A Computer runs MCP servers and gives an Agent access to them: their tools as one list, their windows as a Desktop,
 * their documents as a Finder. It only opens outgoing connections.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Computer } from "@a2c-smcp/sdk/computer";
 *
 * await using computer = Computer.open({ name: "laptop", config: { servers: {} } });
 * await computer.ready();
 * assertEquals(computer.tools, []);
 *
 * const shop = { type: "stdio", disabled: true, server_parameters: { command: "shop-mcp-server" } };
 * const change = await computer.reconfigure({ servers: { shop } });
 * assertEquals(change.added, ["shop"]);
 * assertEquals(computer.servers.get("shop")?.status, "stopped");
 * ```
 */
export class Computer implements AsyncDisposable {
  /** The name in the office. */
  readonly name: string;
  /** What the MCP servers say about themselves, their prompts, resources, templates and suggestions. */
  readonly mcp: LocalMcp;
  /** The `MAJOR.MINOR` of the protocol that it speaks. */
  readonly protocolVersion: ProtocolMinor;
  readonly #host: McpHost;
  readonly #inputs: InputValues;
  readonly #officeLink: OfficeLink;
  readonly #uploads: Uploads;
  #closing: Promise<void> | undefined;

  private constructor(options: ComputerOptions, config: ComputerConfig) {
    const { name, logger: log = silentLogger, inputs = () => undefined, limits, resolveDpe } = options;
    const protocolVersion = options.protocolVersion ?? config.protocolVersion ?? DEFAULT_PROTOCOL;
    const rules = officeRulesOf(protocolVersion);
    this.name = name;
    this.protocolVersion = protocolVersion;
    const uploads = this.#uploads = new Uploads({ options: options.uploads, rules, log });
    this.#inputs = new InputValues(inputs);
    const onChange = () => this.#host.events.tell({ type: "connection" });
    // Loaded whole before the first connection: an upgrade may replace the package beneath a running Computer.
    const listen = async (): Promise<OfficeListener> =>
      new (await import("./requests.ts")).OfficeRequests({ host, resolveDpe, uploads });
    const office = this.#officeLink = new OfficeLink({ name, protocolVersion, onChange, listen, log });
    const host = this.#host = new McpHost({
      ...options,
      config,
      rules,
      log,
      inputs: this.#inputs.source,
      limits: { ...DEFAULT_LIMITS, ...config.limits, ...limits },
      members: () => office.members(),
      isAwake: () => office.isAwake,
      onChange: (kind) => office.announce(kind),
      onProgress: (update) => office.emit(UPDATE_PROGRESS_EVENT, { computer: name, ...update }),
    });
    this.mcp = new LocalMcp(host);
    host.agent.follow(uploads);
    uploads.follow(config.uploads);
  }

  /**
   * Opens a Computer and starts all of its MCP servers; returns without waiting for them.
   *
   * @throws {TypeError} when the name is invalid, this package does not speak `protocolVersion`, or uploads are to be
   *   taken below 0.4.
   * @throws {RangeError} when a limit of uploads is not above 0.
   * @throws {ConfigError} when the configuration is invalid.
   */
  static open(options: ComputerOptions): Computer {
    const problem = nameProblem(options.name);
    if (problem !== undefined) {
      throw new TypeError(`Cannot open Computer "${options.name}": its name ${problem}`);
    }
    if (options.protocolVersion !== undefined) assertProtocol(options.protocolVersion);
    return new Computer(options, parseConfig(options.config));
  }

  /**
   * Resolves when each MCP server has listed its tools or failed, at the latest after `timeoutMs`. Rejects with the
   * reason of `signal` when it is aborted.
   *
   * @param options `timeoutMs`: in milliseconds, unlimited by default. `servers`: the names of the servers to wait for,
   *   all by default; unknown names are ignored.
   */
  async ready(
    options: {
      readonly signal?: AbortSignal;
      readonly timeoutMs?: number;
      readonly servers?: readonly string[];
    } = {},
  ): Promise<void> {
    const { signal, timeoutMs, servers } = options;
    const settled = abortable(this.#host.settled(servers), signal);
    await (timeoutMs === undefined ? settled : settledWithin(settled, timeoutMs));
  }

  /**
   * The tools as an Agent sees them, with their MCP servers, in order of precedence; without tools of servers that failed
   * or were stopped.
   */
  get tools(): readonly SMCPTool[] {
    return this.#host.tools.withServers;
  }

  /** The state of each MCP server by name, in order of precedence. */
  get servers(): ReadonlyMap<string, ServerState> {
    return this.#host.states;
  }

  /** The skills as an Agent sees them. */
  get skills(): ComputerSkills {
    return this.#host.skills;
  }

  /** Signs in at MCP servers, and out again. A server that `needs sign-in` starts after that by itself. */
  get signIns(): ComputerSignIns {
    return this.#host.signIns;
  }

  /** The names under which an MCP server's tools can be called; empty for an unknown server. */
  toolsOf(server: string): string[] {
    return [...this.#host.tools.namesByServer.get(server) ?? []];
  }

  /**
   * The last log lines of an MCP server and the events of its process. Never sent to the office.
   *
   * @throws {TypeError} when no server has that name.
   */
  serverLog(name: string): readonly string[] {
    return this.#host.logOf(this.#host.serverNamed(name));
  }

  /** The configuration as an Agent sees it: placeholders as written, secrets masked. */
  get config(): SentComputerConfig {
    return this.#host.rules.maskConfig(this.#host.config);
  }

  /** The last 1,000 tool calls and 1,000 reads of Agents, oldest first. Kept in memory, and never sent to the office. */
  get history(): readonly HistoryRecord[] {
    return this.#host.history.records;
  }

  /** The tool calls that run: to be shown, cancelled and paused by the owner of the Computer. */
  get calls(): ComputerCalls {
    return this.#host.calls.owner;
  }

  /** Tells this listener from now on what happens, until the disposal. It must return fast. */
  follow(listener: (event: ComputerEvent) => void): Disposable {
    return this.#host.events.follow(listener);
  }

  /** The connection and office; `undefined` without a connection. */
  get connection(): ConnectionState | undefined {
    const { state } = this.#officeLink;
    return state && { ...state, agent: this.#host.agent.name };
  }

  /**
   * Applies another configuration: starts, stops and restarts exactly the MCP servers that it changes, and notifies the
   * Agent. Resolves when the stopped processes have ended; {@linkcode Computer.ready} waits for the started ones.
   *
   * @param config in any form that {@linkcode parseConfig} accepts
   * @throws {ConfigError} when the configuration is invalid; then nothing changes.
   * @throws {TypeError} when this Computer is closed.
   */
  async reconfigure(config: unknown): Promise<ConfigChange> {
    this.#assertOpen();
    const next = parseConfig(config);
    const change = this.#host.configure(next);
    this.#uploads.follow(next.uploads);
    await Promise.all([this.#host.fleet.quiet(), this.#uploads.quiet()]);
    return change;
  }

  /**
   * Starts an MCP server that was stopped or has failed; returns without waiting for it.
   *
   * @throws {TypeError} when no server has that name, or the configuration disables it.
   */
  startServer(name: string): void {
    this.#assertOpen();
    this.#host.startableServer(name).start();
  }

  /**
   * Stops an MCP server until it is started again or its configuration changes. Resolves when its process has ended.
   *
   * @throws {TypeError} when no server has that name.
   */
  async stopServer(name: string): Promise<void> {
    await this.#host.serverNamed(name).stop();
  }

  /**
   * Restarts an MCP server; its tools stay listed. Returns without waiting for it.
   *
   * @throws {TypeError} when no server has that name, or the configuration disables it.
   */
  restartServer(name: string): void {
    this.#assertOpen();
    this.#host.startableServer(name).restart();
  }

  /**
   * Sets the value of an input until this Computer is closed; it takes precedence over all other sources. Restarts the
   * MCP servers that use the input, and returns their names.
   *
   * @throws {TypeError} when the configuration has no such input, the value is not one of its options, or this Computer
   *   is closed.
   */
  setInput(id: string, value: InputValue): string[] {
    checkInputValue(findInput(id, this.#host.config.inputs), value);
    this.#inputs.set(id, value);
    return this.refreshInputs([id]);
  }

  /** The value that {@linkcode Computer.setInput} has set. Never sent to the office. */
  getInput(id: string): InputValue | undefined {
    return this.#inputs.get(id);
  }

  /**
   * Removes the value that {@linkcode Computer.setInput} has set; restarts the MCP servers that use the input, and returns
   * their names.
   *
   * @throws {TypeError} when the configuration has no such input.
   */
  clearInput(id: string): string[] {
    findInput(id, this.#host.config.inputs);
    return this.#inputs.clear(id) ? this.refreshInputs([id]) : [];
  }

  /**
   * Restarts the MCP servers that use one of these inputs, after their source has changed; returns their names.
   *
   * @throws {TypeError} when this Computer is closed.
   */
  refreshInputs(ids: Iterable<string>): string[] {
    this.#assertOpen();
    return this.#host.restartUsersOf(new Set(ids));
  }

  /**
   * Calls a tool as an Agent would, with confirmation and history. A failure of the tool, and an abort during the call,
   * is in the result. Throws the reason of `signal` when it is aborted before the call.
   *
   * @param name a name of {@linkcode Computer.tools}
   * @param params the arguments; empty by default
   */
  async callTool(
    name: string,
    params: Readonly<Record<string, unknown>> = {},
    options: LocalCallOptions = {},
  ): Promise<CallToolResult> {
    const { request, ...rest } = toLocalCall({ computer: this.name, tool: name, params }, options);
    return await this.#host.calls.call(request, rest);
  }

  /**
   * The Desktop as an Agent sees it: a text for each window. Rejects with the reason of `signal` when it is aborted.
   *
   * @param options `size`: the most windows, all by default. `window`: the URI of the only window to show.
   * @throws {SmcpError} 400 when `window` is not a window URI.
   */
  async getDesktop(
    options: LocalRequestOptions & {
      readonly size?: number | undefined;
      readonly window?: string | undefined;
    } = {},
  ): Promise<Desktop[]> {
    const { size, window, signal } = options;
    const asked = { size, window, timeoutMs: toMilliseconds(options) };
    return (await abortable(this.#host.resources.windows(asked), signal)).map(renderWindow);
  }

  /**
   * Searches the Finder as an Agent does; `totalCount` counts all matching documents. With `query`, it finds documents by
   * their text. Rejects with the reason of `signal` when it is aborted.
   *
   * @throws {SmcpError} 400 when `offset` or `limit` is not a non-negative integer.
   */
  async getFinder(
    options: LocalRequestOptions & Omit<FinderQueryOptions, "history"> & {
      readonly query?: string | undefined;
    } = {},
  ): Promise<FinderPage> {
    const { signal, ...query } = options;
    const asked = { ...query, timeoutMs: toMilliseconds(options) };
    return await abortable(this.#host.resources.finder(asked), signal);
  }

  /**
   * Reads a `dpe://` or `window://` resource, or any other resource of the server that `mcpServer` names.
   *
   * @throws {SmcpError} as `client:read_resource` is answered.
   */
  async readResource(
    uri: string,
    options: LocalRequestOptions & { readonly mcpServer?: string | undefined } = {},
  ): Promise<ReadResourceRet> {
    const { mcpServer, signal } = options;
    const { routes } = this.#host.resources;
    const request = { uri, mcp_server: mcpServer, timeout: toSeconds(options) };
    return await readResource(request, { routes, signal });
  }

  /** The listed URIs of the windows and documents of all MCP servers. */
  get uris(): string[] {
    return this.#host.resources.uris;
  }

  /**
   * Connects to a Server without joining an office, and reconnects automatically.
   *
   * @throws {ServerUnreachableError} after `timeoutMs`; at once when another attempt cannot succeed (`isPermanent`).
   * @throws {AuthenticationError | ProtocolVersionError} when another attempt cannot succeed.
   * @throws {TypeError} while an office is joined, or when this Computer is closed.
   */
  async connect(options: ConnectOptions): Promise<void> {
    await this.#officeLink.connect(options);
  }

  /**
   * Joins an office; connects first if there is no connection to that Server. Reconnects and rejoins automatically, and
   * then announces all views as changed.
   *
   * @throws {ServerUnreachableError} after `timeoutMs`; at once when another attempt cannot succeed (`isPermanent`).
   * @throws {AuthenticationError | ProtocolVersionError | JoinRefusedError} when another attempt cannot succeed.
   * @throws {TypeError} while another office is joined, or when this Computer is closed.
   */
  async join(options: JoinOptions): Promise<void> {
    await this.#officeLink.join(options);
  }

  /** Leaves the office and, unless `stayConnected` is set, disconnects; the MCP servers keep running. Idempotent. */
  async leave(options: { readonly stayConnected?: boolean } = {}): Promise<void> {
    await this.#officeLink.leave(options);
  }

  /** Leaves the office and stops all MCP servers. Idempotent. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    // MCP servers are stopped without waiting for the answer of the Server.
    await Promise.all([this.#officeLink.close(), this.#host.close(), this.#uploads.close()]);
  }

  /** The same as {@linkcode Computer.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A server that is started after the close would never be stopped. */
  #assertOpen(): void {
    if (this.#closing !== undefined) throw new TypeError(`Cannot change Computer "${this.name}": closed`);
  }
}
