/** The Computer: MCP servers on one side, an office on the other. */
import type { IncomingEvent } from "../link/connect.ts";
import { Link, type LinkListener } from "../link/link.ts";
import { type Logger, silentLogger } from "../log.ts";
import { DEFAULT_SERVER_LIMITS, type ServerLimits, type ServerState } from "../mcp/supervised_server.ts";
import { abortable, settledWithin } from "../async/abortable.ts";
import { describeError } from "../protocol/errors.ts";
import { CANCEL_TOOL_CALL_NOTIFICATION, CLIENT_EVENT_PREFIX } from "../protocol/events.ts";
import { ConnectionClosedError } from "../protocol/local_errors.ts";
import { isName } from "../protocol/names.ts";
import { parseAgentCallData } from "../protocol/parse.ts";
import type { SMCPTool } from "../protocol/tools.ts";
import { Announcer } from "./announcer.ts";
import { DEFAULT_READ_LIMITS, type ReadLimits } from "./catalogue.ts";
import { type ComputerConfig, parseConfig } from "./config.ts";
import type { Confirm } from "./confirmation.ts";
import type { ResolveDpe } from "./handlers/get_dpe.ts";
import type { ToolCallRecord } from "./history.ts";
import { McpHost } from "./host.ts";
import type { InputSource } from "./inputs.ts";
import { answerRequest } from "./requests.ts";

/** Deadlines and bounds of a Computer; each has a default. */
export type ComputerLimits = ServerLimits & ReadLimits;

/** How to open a Computer. */
export interface ComputerOptions {
  /** Its name in the office: 1–128 characters, no control characters. */
  readonly name: string;
  /** The MCP servers and inputs, as {@linkcode parseConfig} takes them. */
  readonly config: unknown;
  /** Values of inputs by id; asked each time an MCP server starts. None by default. */
  readonly inputs?: InputSource | undefined;
  /** Asked before each call of a tool without `auto_apply`; without it such calls are answered 4005. */
  readonly confirm?: Confirm | undefined;
  /** Serves `client:get_dpe`; without it such requests are answered 4011. */
  readonly resolveDpe?: ResolveDpe | undefined;
  /** Deadlines and bounds that differ from the defaults. */
  readonly limits?: Partial<ComputerLimits> | undefined;
  /** Says nothing by default. */
  readonly logger?: Logger | undefined;
}

/** Where and as whom a Computer joins. */
export interface JoinOptions {
  /** The Server, `http://host:port`. */
  readonly url: string;
  /** The office to join. */
  readonly office: string;
  /** Sent as the auth field `token`. */
  readonly token?: string | undefined;
  /** The Socket.IO `auth` object. */
  readonly auth?: Readonly<Record<string, unknown>> | undefined;
  /** HTTP headers of the handshake. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The Socket.IO path; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /** When to give up on a Server that is out of reach, in milliseconds; never by default. */
  readonly timeoutMs?: number | undefined;
  /** Gives up when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection is gone for good, with the reason. */
  readonly onFailed?: ((error: Error) => void) | undefined;
}

/**
 * A Computer hosts MCP servers and answers an Agent for them: their tools as one list, their windows as a Desktop,
 * their documents as a Finder. It connects outwards only.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Computer } from "@a2c-smcp/sdk/computer";
 *
 * await using computer = Computer.open({ name: "laptop", config: { servers: {} } });
 * await computer.ready();
 * assertEquals(computer.tools, []);
 * ```
 */
export class Computer implements AsyncDisposable {
  /** Its name in the office. */
  readonly name: string;
  readonly #host: McpHost;
  readonly #log: Logger;
  readonly #resolveDpe: ResolveDpe | undefined;
  readonly #announcer: Announcer;
  #link: Link | undefined;
  #isJoining = false;
  #closing: Promise<void> | undefined;

  private constructor(options: ComputerOptions, config: ComputerConfig) {
    const { name, logger = silentLogger, inputs = () => undefined, confirm, limits = {}, resolveDpe } =
      options;
    this.name = name;
    this.#log = logger;
    this.#resolveDpe = resolveDpe;
    this.#announcer = new Announcer((event) => this.#link?.emit(event, { computer: name }));
    this.#host = new McpHost({
      config,
      inputs,
      confirm,
      log: logger,
      limits: { ...DEFAULT_SERVER_LIMITS, ...DEFAULT_READ_LIMITS, ...limits },
      onChange: (kind) => this.#announcer.announce(kind),
    });
  }

  /**
   * Opens a Computer and starts its MCP servers, all at once; returns without waiting for them.
   *
   * @throws {TypeError} when the name cannot be one.
   * @throws {ConfigError} when the configuration cannot be used.
   */
  static open(options: ComputerOptions): Computer {
    if (!isName(options.name)) {
      throw new TypeError(
        `Cannot open Computer "${options.name}": a name has 1–128 characters, no control characters`,
      );
    }
    return new Computer(options, parseConfig(options.config));
  }

  /** Resolves when each MCP server has started, or has failed to for the first time. */
  async ready(options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {}): Promise<void> {
    const settled = abortable(this.#host.settled(), options.signal);
    await (options.timeoutMs === undefined ? settled : settledWithin(settled, options.timeoutMs));
  }

  /** The tools as an Agent sees them. */
  get tools(): readonly SMCPTool[] {
    return this.#host.directory.tools;
  }

  /** The state of each MCP server by name, in order of precedence. */
  get servers(): ReadonlyMap<string, ServerState> {
    return new Map(this.#host.fleet.servers.map(({ name, state }) => [name, state]));
  }

  /** The last 100 tool calls, oldest first. */
  get history(): readonly ToolCallRecord[] {
    return this.#host.history.records;
  }

  /**
   * Connects to a Server and joins an office, and comes back after each loss; then the Agent is told to look again.
   *
   * @throws {ServerUnreachableError} after `timeoutMs`.
   * @throws {AuthenticationError | ProtocolVersionError | JoinRefusedError} when trying again is of no use.
   */
  async join(options: JoinOptions): Promise<void> {
    if (this.#isJoining || this.#link !== undefined || this.#closing !== undefined) {
      const why = this.#closing === undefined ? "leave the other one first" : "closed";
      throw new TypeError(`Cannot join office "${options.office}": ${why}`);
    }
    this.#isJoining = true;
    try {
      await this.#join(options);
    } finally {
      this.#isJoining = false;
    }
  }

  async #join(options: JoinOptions): Promise<void> {
    const { url, office, token, auth, headers, path, timeoutMs, signal } = options;
    const link = await Link.open(
      { url, path, headers, auth: token === undefined ? auth : { token, ...auth }, logger: this.#log },
      {
        listener: this.#listener(options.onFailed),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      },
    );
    this.#link = link;
    try {
      if (this.#closing !== undefined) {
        throw new ConnectionClosedError("Cannot join: the Computer was closed");
      }
      await link.join({ role: "computer", name: this.name, office_id: office }, { signal });
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  /** Leaves the office and disconnects; the MCP servers go on. */
  async leave(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    this.#host.calls.forget();
    if (link === undefined) return;
    await link.leave().catch((error) =>
      this.#log.debug("cannot say goodbye", { error: describeError(error) })
    );
    await link.close();
  }

  /** Leaves, and stops all MCP servers. Idempotent. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#announcer.close();
    // A Server that does not answer the farewell keeps no MCP server alive.
    await Promise.all([this.leave(), this.#host.close()]);
  }

  /** The same as {@linkcode Computer.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #listener(onFailed: ((error: Error) => void) | undefined): LinkListener {
    return {
      onEvent: (incoming) => this.#onEvent(incoming),
      onLost: () => this.#host.calls.forget(),
      onReturned: () => this.#announcer.announceAll(),
      onFailed: (error) => onFailed?.(error),
    };
  }

  #onEvent(incoming: IncomingEvent): void {
    const { event, body } = incoming;
    if (event === CANCEL_TOOL_CALL_NOTIFICATION) {
      this.#host.calls.cancel(parseAgentCallData(body).req_id);
    } else if (event.startsWith(CLIENT_EVENT_PREFIX)) {
      const context = { host: this.#host, resolveDpe: this.#resolveDpe, log: this.#log };
      answerRequest(context, incoming).catch((error) => {
        this.#log.error("an answer was not sent", { event, error: describeError(error) });
      });
    }
  }
}
