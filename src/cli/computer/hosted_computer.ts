/** A Computer as its command line runs it: with a config file, which is watched, and commands that edit it. */
import { Followers } from "../../async/followers.ts";
import { Limiter } from "../../async/limiter.ts";
import { Computer } from "../../computer/computer.ts";
import type { ConfigChange } from "../../computer/host.ts";
import type { ConnectOptions } from "../../computer/office/office_link.ts";
import type { ComputerOptions } from "../../computer/options.ts";
import type { InputValue } from "../../config/placeholders.ts";
import type { ComputerConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/problem.ts";
import type { TokenStore } from "../../mcp/auth/token_store.ts";
import { type LogFields, type Logger, withModule } from "../../log.ts";
import type { MCPServerConfig, MCPServerInput } from "../../protocol/config.ts";
import { FileWatch, type FileWatchOptions, versionOf } from "../../files/watched_files.ts";
import { didYouMean } from "../../text/spelling.ts";
import { describeError } from "../../text/text.ts";
import type { ProgramConsole } from "../console.ts";
import { UsageError } from "../outcome.ts";
import { ConfigStore } from "./config_store.ts";
import type { Conversation } from "../control/conversation.ts";
import { type HostedInputs, type InputOrigin, readInputFile } from "./hosted_inputs.ts";
import { People } from "./people/people.ts";
import { type ArrivalOptions, OfficeArrival } from "./start.ts";
import { openApprovals, type PauseMark } from "./state_files.ts";

/** How often the files are looked at, in milliseconds. */
const CHECK_INTERVAL_MS = 500;

export interface HostedComputerOptions
  extends Pick<ComputerOptions, "name" | "protocolVersion" | "autoApply" | "skills" | "uploads"> {
  /** The config file; without one, the configuration is empty and in memory. */
  readonly configFile?: string | undefined;
  readonly mayBeNew?: boolean | undefined;
  readonly added?: readonly MCPServerConfig[] | undefined;
  /** Whether edits of the config file and of the file of inputs are applied. */
  readonly isWatching: boolean;
  readonly inputs: HostedInputs;
  readonly tokens: TokenStore;
  readonly pauseMark: PauseMark;
  /** The Server of the command line, and the credentials for it. */
  readonly connectOptions: Omit<ConnectOptions, "url" | "timeoutMs" | "signal"> & {
    readonly url?: string | undefined;
  };
  readonly logger: Logger;
  readonly isLogShown?: boolean | undefined;
}

/** A Computer with its configuration, which commands and edits of its files change. */
export class HostedComputer implements AsyncDisposable {
  readonly options: HostedComputerOptions;
  readonly store: ConfigStore;
  readonly people: People;
  /** The name by which commands of other processes choose this Computer. */
  commandName: string;
  /** The page of this Computer, where it runs until it is stopped. */
  console: ProgramConsole | undefined;
  /** The version of the config file that was read, so that an edit during the start is noticed. */
  readonly #version: string;
  readonly #log: Logger;
  readonly #awaited: string[] = [];
  readonly #quitting = new AbortController();
  readonly #watches: FileWatch[] = [];
  readonly #followers: Followers<"config" | "connection">;
  #refusedEdit: string | undefined;
  #computer: Computer | undefined;
  #arrival: OfficeArrival | undefined;
  #inputValues: ReadonlyMap<string, InputValue> = new Map();
  /** Changes of the configuration run one after another. */
  readonly #changes = new Limiter(1);

  private constructor(
    options: HostedComputerOptions,
    { store, version }: { readonly store: ConfigStore; readonly version: string },
  ) {
    this.options = options;
    this.commandName = options.name;
    this.store = store;
    this.#version = version;
    this.#log = withModule(options.logger, "config");
    this.people = new People({ log: options.logger });
    this.#followers = new Followers(options.logger);
  }

  /** Reads the configuration, and throws a UsageError when it cannot be used; starts nothing. */
  static async open(options: HostedComputerOptions): Promise<HostedComputer> {
    const { configFile, mayBeNew, added } = options;
    const version = await versionOf(listed(configFile));
    const store = await ConfigStore.open(configFile, { mayBeNew, added }).catch(toUsageError);
    return new HostedComputer(options, { store, version });
  }

  /** @throws {TypeError} before {@linkcode HostedComputer.start}. */
  get computer(): Computer {
    if (this.#computer === undefined) {
      throw new TypeError("Cannot use the Computer: it has not started");
    }
    return this.#computer;
  }

  get isStarted(): boolean {
    return this.#computer !== undefined;
  }

  get quitting(): AbortSignal {
    return this.#quitting.signal;
  }

  quit(): void {
    this.#quitting.abort();
  }

  async start(): Promise<Computer> {
    const { inputs, isWatching } = this.options;
    const { confirm, answerQuestion } = this.people;
    const computer = Computer.open({
      ...this.options,
      confirm,
      answerQuestion,
      config: this.store.config,
      inputs: inputs.source,
      approvals: openApprovals(this.options.name),
      logger: withAwaited(this.options.logger, this.#awaited),
    });
    this.#computer = computer;
    this.#keepPause(computer);
    const inputsVersion = await versionOf(listed(inputs.file));
    await this.#readInputs().catch((error) => this.#log.error(describeError(error)));
    if (isWatching) {
      this.#watch(this.store.file, { onChange: () => this.#reload(), since: this.#version });
      this.#watch(inputs.file, { onChange: () => this.#refreshInputs(), since: inputsVersion });
    }
    return computer;
  }

  /** A Computer that was paused starts so, and one of which nobody can tell. */
  #keepPause({ calls }: Computer): void {
    const { pauseMark, logger } = this.options;
    try {
      if (!pauseMark.isSet()) return;
      logger.warn('this Computer is paused since before its start; "resume" ends it');
    } catch (error) {
      const problem = describeError(error);
      logger.warn('this Computer is paused until "resume": cannot tell if it was before its start', {
        error: problem,
      });
    }
    calls.pause();
  }

  /**
   * Refuses new calls and all reads of Agents, over restarts too, or takes them again. Returns what is wrong where the next start
   * knows nothing of it.
   */
  setPaused(isPaused: boolean): string | undefined {
    const { calls } = this.computer;
    if (isPaused) calls.pause();
    else calls.resume();
    try {
      this.options.pauseMark.set(isPaused);
      return undefined;
    } catch (error) {
      const what = isPaused
        ? "the pause ends with this program, since a restart does not know of it"
        : "the next start of this Computer is paused again";
      this.options.logger.warn(what, { error: describeError(error) });
      return `${what}: ${describeError(error)}`;
    }
  }

  /** Tells of what the Computer itself does not know, until the disposal: edits that are refused, and attempts to connect. */
  follow(listener: (changed: "config" | "connection") => void): Disposable {
    return this.#followers.follow(listener);
  }

  /** Connects to a Server, and joins the office if one is given, in the background. */
  arrive(
    target: Pick<ArrivalOptions, "url" | "office" | "joinPatienceMs" | "serversTimeoutMs">,
  ): OfficeArrival {
    const { connectOptions, logger: log } = this.options;
    const arrival = new OfficeArrival(this.computer, { ...connectOptions, ...target, log });
    this.#arrival = arrival;
    const tell = () => this.#followers.tell("connection");
    tell();
    arrival.done.then(tell, tell);
    return arrival;
  }

  get arrival(): OfficeArrival | undefined {
    return this.#arrival?.isOver === false ? this.#arrival : undefined;
  }

  /**
   * Changes the configuration and reconfigures the Computer.
   *
   * @returns What changed; `undefined` before {@linkcode HostedComputer.start}.
   * @throws {UsageError} when the result cannot be used; nothing changes then.
   */
  edit(change: (text: string) => string): Promise<ConfigChange | undefined> {
    return this.#apply(() => this.store.edit(change));
  }

  /** Takes back the last edit, as {@linkcode ConfigStore.undo} does. */
  undo(): Promise<ConfigChange | undefined> {
    return this.#apply(() => this.store.undo());
  }

  /** Asks again about a tool that was allowed by `always`; tells whether it was. */
  askAgain(tool: Parameters<People["forget"]>[0]): boolean {
    const wasAllowed = this.people.forget(tool);
    if (wasAllowed) this.#followers.tell("config");
    return wasAllowed;
  }

  #apply(edit: () => Promise<ComputerConfig>): Promise<ConfigChange | undefined> {
    return this.#changes.run(async () => {
      const config = await edit().catch(toUsageError);
      this.#setRefusedEdit(undefined);
      return await this.#computer?.reconfigure(config);
    });
  }

  /** The problem of the last edit of the config file; `undefined` when the edit is in use. */
  get refusedEdit(): string | undefined {
    return this.#refusedEdit;
  }

  /** Logs warnings of this MCP server as info until disposal, because the answer of a command shows them. */
  awaitServer(name: string): Disposable {
    if (this.options.isLogShown !== true) return { [Symbol.dispose]() {} };
    this.#awaited.push(name);
    return { [Symbol.dispose]: () => void this.#awaited.splice(this.#awaited.indexOf(name), 1) };
  }

  /** Where an MCP server that starts now would get the value of an input. */
  async originOf(input: MCPServerInput): Promise<InputOrigin> {
    return this.#computer?.getInput(input.id) === undefined
      ? await this.options.inputs.originOf(input)
      : "set";
  }

  /** The value of an input, without a question and without running a command. It must not leave this machine. */
  async peekInput(input: MCPServerInput): Promise<InputValue | undefined> {
    return this.#computer?.getInput(input.id) ?? await this.options.inputs.peek(input);
  }

  /** Forgets a value that was set or typed, and returns the servers that restart. They do not ask for it again. */
  clearInput({ id }: MCPServerInput): string[] {
    const wasAnswered = this.options.inputs.forget(id);
    const restarted = this.computer.clearInput(id);
    return wasAnswered && restarted.length === 0 ? this.computer.refreshInputs([id]) : restarted;
  }

  async close(): Promise<void> {
    this.quit();
    await this.#arrival?.stop();
    await Promise.all([...this.#watches.map((watch) => watch.close()), this.#computer?.close()]);
    await this.#changes.run(() => Promise.resolve());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #watch(file: string | undefined, options: FileWatchOptions): void {
    this.#watches.push(new FileWatch(listed(file), { ...options, intervalMs: CHECK_INTERVAL_MS }));
  }

  /** Applies an edit of the config file; logs an edit that cannot be used, which changes nothing. */
  async #reload(): Promise<void> {
    try {
      const change = await this.#changes.run(async () => {
        const config = await this.store.reload();
        return this.quitting.aborted ? undefined : await this.#computer?.reconfigure(config);
      });
      if (change !== undefined) this.#report(change);
      this.#setRefusedEdit(undefined);
    } catch (error) {
      this.#setRefusedEdit(describeError(error));
      this.#log.error("cannot use the edited config; keeping the previous one", { error: this.#refusedEdit });
    }
  }

  #setRefusedEdit(problem: string | undefined): void {
    if (this.#refusedEdit === problem) return;
    this.#refusedEdit = problem;
    this.#followers.tell("config");
  }

  #report(change: ConfigChange): void {
    const touched = Object.entries(change).filter(([, names]) => names.length > 0);
    if (touched.length === 0 && this.#refusedEdit === undefined) return;
    const fields = Object.fromEntries(touched.map(([what, names]) => [what, names.join(", ")]));
    this.#log.info("applied the edited config", fields);
  }

  async #readInputs(): Promise<ReadonlyMap<string, InputValue>> {
    const { file } = this.options.inputs;
    const before = this.#inputValues;
    if (file !== undefined) this.#inputValues = await readInputFile(file);
    this.#warnOfUnknownIds();
    return before;
  }

  /** An id that no server uses may be misspelled. */
  #warnOfUnknownIds(): void {
    const known = new Set(this.store.config.inputs.map(({ id }) => id));
    for (const id of this.#inputValues.keys()) {
      if (known.has(id)) continue;
      this.#log.warn(`unknown input "${id}" in the file of inputs${didYouMean(id, known)}`);
    }
  }

  async #refreshInputs(): Promise<void> {
    try {
      const before = await this.#readInputs();
      if (this.quitting.aborted) return;
      const ids = [...before.keys(), ...this.#inputValues.keys()];
      const changed = ids.filter((id) => before.get(id) !== this.#inputValues.get(id));
      const restarted = this.computer.refreshInputs(changed);
      if (restarted.length > 0) {
        this.#log.info("applied the edited inputs; restarting servers", { servers: restarted.join(", ") });
      }
    } catch (error) {
      this.#log.error("cannot use the edited inputs; keeping the previous ones", {
        error: describeError(error),
      });
    }
  }
}

/** What a command may use: at the prompt, for another process, and for one command alone. */
export interface CommandContext {
  readonly hosted: HostedComputer;
  /** Aborted by Ctrl-C, and when the process that sent the command has ended. */
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  readonly conversation: Conversation;
  /** Where the command comes from, as a person reads it: `by a command`, `on the page`. */
  readonly place: string;
}

function listed(file: string | undefined): readonly string[] {
  return file === undefined ? [] : [file];
}

/** A config that cannot be used ends the command with exit code 2. */
function toUsageError(error: unknown): never {
  throw error instanceof ConfigError ? new UsageError(error.message, { cause: error }) : error;
}

/** Logs warnings of MCP servers that a command waits for as info, because the answer shows them. */
function withAwaited(log: Logger, awaited: readonly string[]): Logger {
  const isAwaited = ({ module, server }: LogFields) =>
    module === "mcp" && awaited.some((name) => name === server);
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: (message, fields = {}) => log[isAwaited(fields) ? "info" : "warn"](message, fields),
    error: (message, fields) => log.error(message, fields),
  };
}
