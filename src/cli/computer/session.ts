/** A Computer as its command line runs it: with a config file, which is watched, and commands that edit it. */
import { Computer } from "../../computer/computer.ts";
import type { ConfigChange } from "../../computer/host.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import type { ConnectOptions } from "../../computer/office/link.ts";
import type { ComputerOptions } from "../../computer/options.ts";
import { fileResolver } from "../../computer/resources/file_resolver.ts";
import type { Confirm } from "../../computer/tools/confirmation.ts";
import { type InputValue, inputVariable } from "../../config/placeholders.ts";
import { ConfigError } from "../../config/problem.ts";
import { type LogFields, type Logger, type LoggerOptions, withModule } from "../../log.ts";
import type { MCPServerInput } from "../../protocol/config.ts";
import { didYouMean } from "../../spelling.ts";
import { describeError } from "../../text.ts";
import { authOf, type ConnectionOptions, loggerOf, type LogOptions } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { ConfigStore } from "./config_store.ts";
import { FileWatch, stampOf, type WatchOptions } from "./file_watch.ts";
import { type InputOrigin, readInputFile, SessionInputs } from "./session_inputs.ts";
import { Arrival, type ArrivalOptions } from "./start.ts";

/** What a session needs. */
export interface SessionOptions extends Pick<ComputerOptions, "name" | "confirm" | "resolveDpe"> {
  /** The config file; an empty configuration in memory without one. */
  readonly configFile?: string | undefined;
  /** Whether the config file need not be there yet; false by default. */
  readonly mayBeNew?: boolean | undefined;
  /** Whether edits of the config file and of the inputs' file are taken over. */
  readonly isWatching: boolean;
  readonly inputs: SessionInputs;
  /** Where to connect unless a command says otherwise. */
  readonly place: Omit<ConnectOptions, "url" | "timeoutMs" | "signal"> & {
    readonly url?: string | undefined;
  };
  readonly logger: Logger;
  /** Whether who types the commands reads the log as well: at a prompt. False by default. */
  readonly isLogShown?: boolean | undefined;
}

/** One run of the command line. */
export class Session implements AsyncDisposable {
  readonly options: SessionOptions;
  readonly store: ConfigStore;
  /** The config file as it was before it was read: what is edited while everything starts counts as well. */
  readonly #stamp: string | undefined;
  readonly #log: Logger;
  readonly #awaitedLog: AwaitedLog;
  readonly #quitting = new AbortController();
  readonly #watches: FileWatch[] = [];
  #refusedEdit: string | undefined;
  #computer: Computer | undefined;
  #arrival: Arrival | undefined;
  #inputValues: ReadonlyMap<string, InputValue> = new Map();
  /** One change of the configuration at a time. */
  #changes: Promise<unknown> = Promise.resolve();

  private constructor(
    options: SessionOptions,
    { store, stamp }: { readonly store: ConfigStore; readonly stamp: string | undefined },
  ) {
    this.options = options;
    this.store = store;
    this.#stamp = stamp;
    this.#log = withModule(options.logger, "config");
    this.#awaitedLog = new AwaitedLog(options.logger);
  }

  /**
   * Reads the configuration, and starts nothing.
   *
   * @throws {UsageError} when it cannot be used.
   */
  static async open(options: SessionOptions): Promise<Session> {
    const { configFile, mayBeNew } = options;
    const stamp = configFile === undefined ? undefined : stampOf(configFile);
    const store = await ConfigStore.open(configFile, { mayBeNew }).catch(toUsageError);
    return new Session(options, { store, stamp });
  }

  /** The Computer, once {@linkcode Session.start} was called. */
  get computer(): Computer {
    if (this.#computer === undefined) throw new TypeError("Cannot use the Computer: it was not started");
    return this.#computer;
  }

  /** Aborted when a command asks the program to end. */
  get quitting(): AbortSignal {
    return this.#quitting.signal;
  }

  /** Asks the program to end. */
  quit(): void {
    this.#quitting.abort();
  }

  /** Opens the Computer, which starts its MCP servers, and watches the files. */
  async start(): Promise<Computer> {
    const { name, confirm, resolveDpe, inputs, isWatching } = this.options;
    const logger = this.#awaitedLog;
    const { config } = this.store;
    const computer = Computer.open({ name, config, inputs: inputs.source, confirm, resolveDpe, logger });
    this.#computer = computer;
    await this.#readInputs().catch((error) => this.#log.error(describeError(error)));
    if (isWatching) {
      this.#watch(this.store.file, { onChange: () => this.#reload(), since: this.#stamp });
      this.#watch(inputs.file, { onChange: () => this.#refreshInputs() });
    }
    return computer;
  }

  /** Goes to a Server, and into an office where one is named; tries until it is there or refused. */
  arrive(target: Pick<ArrivalOptions, "url" | "office" | "joinPatienceMs">): Arrival {
    return this.#arrival = new Arrival(this.computer, { ...this.options.place, ...target });
  }

  /** The attempt to reach a Server that goes on; `undefined` when there is none. */
  get arrival(): Arrival | undefined {
    return this.#arrival?.isOver === false ? this.#arrival : undefined;
  }

  /**
   * Changes the configuration and, where it runs, the Computer; tells what that did.
   *
   * @throws {UsageError} when the result cannot be used; then nothing changed.
   */
  edit(change: (text: string) => string): Promise<ConfigChange | undefined> {
    return this.#alone(async () => {
      const config = await this.store.edit(change).catch(toUsageError);
      this.#refusedEdit = undefined;
      return await this.#computer?.reconfigure(config);
    });
  }

  /** Why the config file as it stands now is not used; `undefined` when it is. */
  get refusedEdit(): string | undefined {
    return this.#refusedEdit;
  }

  /** Until the result is disposed of, a command waits for this server, and tells what becomes of it. */
  awaitServer(name: string): Disposable {
    return this.options.isLogShown === true ? this.#awaitedLog.await(name) : { [Symbol.dispose]() {} };
  }

  /** Where a server that is started now finds the value of an input. */
  async originOf(input: MCPServerInput): Promise<InputOrigin> {
    return this.#computer?.getInput(input.id) === undefined
      ? await this.options.inputs.originOf(input)
      : "set";
  }

  /** The value that an input has without asking anybody or running anything. For local eyes only. */
  async peekInput(input: MCPServerInput): Promise<InputValue | undefined> {
    return this.#computer?.getInput(input.id) ?? await this.options.inputs.peek(input);
  }

  /** Forgets what was set or asked for; tells which servers were restarted. These ask for it no more. */
  clearInput({ id }: MCPServerInput): string[] {
    const wasAnswered = this.options.inputs.forget(id);
    const restarted = this.computer.clearInput(id);
    return wasAnswered && restarted.length === 0 ? this.computer.refreshInputs([id]) : restarted;
  }

  /** Stops everything. Idempotent. */
  async close(): Promise<void> {
    this.quit();
    await this.#arrival?.stop();
    await Promise.all([...this.#watches.map((watch) => watch.close()), this.#computer?.close()]);
    await this.#changes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #watch(file: string | undefined, options: Pick<WatchOptions, "onChange" | "since">): void {
    if (file !== undefined) this.#watches.push(new FileWatch(file, { ...options, log: this.#log }));
  }

  /** A broken edit changes nothing and says why. */
  async #reload(): Promise<void> {
    try {
      const change = await this.#alone(async () => {
        const config = await this.store.reload();
        return this.quitting.aborted ? undefined : await this.#computer?.reconfigure(config);
      });
      if (change !== undefined) this.#report(change);
      this.#refusedEdit = undefined;
    } catch (error) {
      this.#refusedEdit = describeError(error);
      this.#log.error("the edited config is not used; the last one stays", { error: this.#refusedEdit });
    }
  }

  #report(change: ConfigChange): void {
    const touched = Object.entries(change).filter(([, names]) => names.length > 0);
    if (touched.length === 0 && this.#refusedEdit === undefined) return;
    const fields = Object.fromEntries(touched.map(([what, names]) => [what, names.join(", ")]));
    this.#log.info("the edited config is used", fields);
  }

  async #readInputs(): Promise<ReadonlyMap<string, InputValue>> {
    const { file } = this.options.inputs;
    const before = this.#inputValues;
    if (file !== undefined) this.#inputValues = await readInputFile(file);
    this.#warnOfStrangers();
    return before;
  }

  /** A misspelt id gives its value to nobody. */
  #warnOfStrangers(): void {
    const known = new Set(this.store.config.inputs.map(({ id }) => id));
    for (const id of this.#inputValues.keys()) {
      if (known.has(id)) continue;
      this.#log.warn(`the file of inputs has "${id}", which the config does not${didYouMean(id, known)}`);
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
        this.#log.info("inputs have changed, their servers restart", { servers: restarted.join(", ") });
      }
    } catch (error) {
      this.#log.error("the edited inputs are not used", { error: describeError(error) });
    }
  }

  #alone<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(change);
    this.#changes = done.catch(() => {});
    return done;
  }
}

/** A configuration that cannot be used is the user's to mend. */
function toUsageError(error: unknown): never {
  throw error instanceof ConfigError ? new UsageError(error.message, { cause: error }) : error;
}

/** A logger that writes warnings of awaited MCP servers as information. */
class AwaitedLog implements Logger {
  readonly #log: Logger;
  readonly #awaited: string[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Until the result is disposed of, somebody at the prompt waits for an answer about this server. */
  await(server: string): Disposable {
    this.#awaited.push(server);
    return { [Symbol.dispose]: () => void this.#awaited.splice(this.#awaited.indexOf(server), 1) };
  }

  debug(message: string, fields?: LogFields): void {
    this.#log.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    const { module, server } = fields ?? {};
    const isAwaited = module === "mcp" && this.#awaited.some((name) => name === server);
    if (isAwaited) this.#log.info(message, fields);
    else this.#log.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log.error(message, fields);
  }
}

/** The options of `computer.ts`. */
export interface ComputerCliOptions extends LogOptions, Partial<ConnectionOptions> {
  readonly config?: string;
  readonly inputs?: string;
  readonly dpeFiles?: string;
  /** In seconds. */
  readonly startTimeout?: number;
  readonly autoApply: boolean;
  readonly watch: boolean;
  readonly headless: boolean;
  readonly json: boolean;
}

/** What else a session depends on. */
export interface SessionSurroundings extends Pick<LoggerOptions, "write"> {
  /** Asks a person for values of inputs. */
  readonly inputs?: InputSource | undefined;
  /** Asks a person whether a tool may run. */
  readonly confirm?: Confirm | undefined;
  readonly isWatching: boolean;
  /** Tells how to give an input a value; by default, in the environment. */
  readonly inputRemedy?: ((id: string) => string) | undefined;
  /** Whether the config file need not be there yet; false by default. */
  readonly mayBeNew?: boolean | undefined;
  readonly onFailed?: ((error: Error) => void) | undefined;
}

/**
 * Reads the configuration that the options name, and starts nothing.
 *
 * @throws {UsageError} when it cannot be used.
 */
export async function openSession(
  options: ComputerCliOptions,
  around: SessionSurroundings,
): Promise<Session> {
  const { url, path, header = {}, auth = {}, token, config, inputs, dpeFiles, autoApply } = options;
  return await Session.open({
    name: options.name ?? defaultName(),
    configFile: config,
    mayBeNew: around.mayBeNew,
    isWatching: around.isWatching,
    inputs: new SessionInputs({
      environment: (name) => Deno.env.get(name),
      file: inputs,
      ask: around.inputs,
      remedy: around.inputRemedy ?? ((id) => `set ${inputVariable(id)} or give the input a default`),
    }),
    place: {
      url,
      path,
      headers: header,
      auth: authOf(token === undefined ? { auth } : { token, auth }),
      onFailed: around.onFailed,
    },
    confirm: autoApply ? () => true : around.confirm,
    resolveDpe: dpeFiles === undefined ? undefined : fileResolver({ directory: dpeFiles }),
    isLogShown: around.write !== undefined,
    logger: loggerOf("computer", { ...options, write: around.write }),
  });
}

/** The machine's name where that may be asked for without asking a person. */
function defaultName(): string {
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "hostname" });
  return state === "granted" ? Deno.hostname() : "computer";
}
