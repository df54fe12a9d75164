/** The configuration of a Computer that a command line runs: a config file, or a text in memory. */
import { replaceFile } from "../../files/files.ts";
import { describeError } from "../../text/text.ts";
import type { MCPServerConfig } from "../../protocol/config.ts";
import { type ComputerConfig, parseConfigText, withServers } from "../../config/config.ts";
import { hostOfServer } from "../../config/documents.ts";
import { checkConfigText, type ConfigChecks } from "../../config/check.ts";
import { originOf, readConfigFileText } from "../../config/file.ts";
import { ConfigError, problemsError } from "../../config/problem.ts";
import { StateChangedError, UsageError } from "../outcome.ts";
import { VrlEngine } from "../../computer/vrl/engine.ts";

/** Calls `use` with checks of scripts and variables; one VRL engine compiles all scripts. */
export async function withConfigChecks<T>(use: (checks: ConfigChecks) => Promise<T>): Promise<T> {
  using engine = new VrlEngine();
  return await use({
    vrl: (script) => engine.compile(script).then(() => undefined, describeError),
    environment: (name) => Deno.env.get(name),
  });
}

/** The most edits that can be undone. */
const MAX_UNDONE = 10;
const EMPTY = '{\n  "servers": {}\n}\n';

/** Reads and edits one configuration. A file is written only with a configuration that can be used. */
export class ConfigStore {
  readonly file: string | undefined;
  #text = EMPTY;
  #config: ComputerConfig = parseConfigText(EMPTY, "config");
  #isNew = false;
  /** The text before and after each edit, the last one at the end. */
  readonly #edits: { readonly before: string; readonly after: string }[] = [];
  /** Servers of the command line; edits do not concern them. */
  readonly #added: readonly MCPServerConfig[];

  private constructor(file: string | undefined, added: readonly MCPServerConfig[]) {
    this.file = file;
    this.#added = added;
  }

  /**
   * Opens the configuration of a file; without a file, an empty configuration in memory.
   *
   * @param options `mayBeNew`: a file that does not exist counts as empty, and the first edit creates it; `added`: servers
   *   that are not in the file.
   * @throws {ConfigError} when the file cannot be read or used.
   */
  static async open(
    file: string | undefined,
    { mayBeNew = false, added = [] }: {
      readonly mayBeNew?: boolean | undefined;
      readonly added?: readonly MCPServerConfig[] | undefined;
    } = {},
  ): Promise<ConfigStore> {
    const store = new ConfigStore(file, added);
    try {
      await store.reload();
    } catch (error) {
      const isMissing = error instanceof ConfigError && error.cause instanceof Deno.errors.NotFound;
      if (!isMissing || !mayBeNew) throw error;
      store.#isNew = true;
    }
    return store;
  }

  get isNew(): boolean {
    return this.#isNew;
  }

  /** The configuration as of the last successful read or edit. */
  get config(): ComputerConfig {
    return this.#withAdded(this.#config);
  }

  /** When it cannot be read or used, it throws a ConfigError, and `config` does not change. */
  async reload(): Promise<ComputerConfig> {
    if (this.file !== undefined) this.#config = await readFile(this.file);
    return this.config;
  }

  /**
   * Changes the text of the configuration, and writes the file if there is one.
   *
   * @throws {ConfigError} when the result cannot be used; nothing changes then.
   * @throws {TypeError} when the file cannot be written.
   */
  async edit(change: (text: string) => string): Promise<ComputerConfig> {
    const before = await this.#read();
    const text = change(before);
    const config = this.file === undefined
      ? parseConfigText(text, "config")
      : await toConfig(text, this.file);
    const all = this.#withAdded(config);
    if (this.file === undefined) this.#text = text;
    else await writeFile(this.file, { text, isNew: this.#isNew });
    this.#isNew = false;
    this.#config = config;
    if (text !== before) this.#edits.push({ before, after: text });
    if (this.#edits.length > MAX_UNDONE) this.#edits.shift();
    return all;
  }

  /** Whether a server comes from the command line, so that no edit concerns it. */
  isAdded(name: string): boolean {
    return this.#added.some((server) => server.name === name);
  }

  /** @throws {UsageError} for a server that comes from the command line. */
  assertWritten(name: string, verb: "show" | "remove"): void {
    if (!this.isAdded(name)) return;
    throw new UsageError(
      `Cannot ${verb} server "${name}": it comes from --documents, not from the config; start without the option`,
    );
  }

  /** Whether it has an edit that can be taken back, unless something else has edited the text since. */
  get canUndo(): boolean {
    return this.#edits.length > 0;
  }

  /**
   * Takes back the last edit, if nothing else has edited the text since.
   *
   * @throws {StateChangedError} when there is none, or something has.
   * @throws {ConfigError | TypeError} as {@linkcode ConfigStore.edit} does.
   */
  async undo(): Promise<ComputerConfig> {
    const last = this.#edits.at(-1);
    if (last === undefined) {
      throw new StateChangedError("Cannot undo: this Computer has not edited its config");
    }
    const config = await this.edit((text) => {
      if (text === last.after) return last.before;
      throw new StateChangedError("Cannot undo: the config was edited by something else since");
    });
    this.#edits.splice(-2);
    return config;
  }

  /** The text as it is now. */
  async text(): Promise<string> {
    return await this.#read();
  }

  /** Throws a ConfigError when a server of the file has the name of an added one. */
  #withAdded(config: ComputerConfig): ComputerConfig {
    if (this.#added.length === 0) return config;
    const taken = this.#added.find(({ name }) => config.servers.some((server) => server.name === name));
    if (taken !== undefined) {
      throw this.#refusal(`duplicate name "${taken.name}", which --documents uses; rename the server`);
    }
    const hosts = this.#added.map(hostOfServer);
    const twin = config.servers.find((server) => hosts.includes(hostOfServer(server) ?? ""));
    if (twin !== undefined) {
      throw this.#refusal(
        `"${twin.name}" has the host "${hostOfServer(twin)}", which --documents uses; rename it`,
      );
    }
    return withServers(config, this.#added);
  }

  #refusal(message: string): ConfigError {
    return problemsError(this.file ?? "config", [{ message, path: "servers" }]);
  }

  async #read(): Promise<string> {
    return this.file === undefined || this.#isNew ? this.#text : await readConfigFileText(this.file);
  }
}

async function readFile(file: string): Promise<ComputerConfig> {
  return await toConfig(await readConfigFileText(file), file);
}

async function toConfig(text: string, file: string): Promise<ComputerConfig> {
  const { problems } = await withConfigChecks((checks) => checkConfigText(text, { file, checks }));
  if (problems.length > 0) throw problemsError(file, problems);
  return parseConfigText(text, file, { origin: originOf(file) });
}

async function writeFile(
  file: string,
  { text, isNew }: { readonly text: string; readonly isNew: boolean },
): Promise<void> {
  try {
    // Another program may have created the file by now. It is private because it may hold secrets.
    if (isNew) await Deno.writeTextFile(file, text, { createNew: true, mode: 0o600 });
    else await overwriteFile(file, text);
  } catch (error) {
    throw new TypeError(`Cannot write config "${file}": ${describeError(error)}`, { cause: error });
  }
}

/** Follows a symbolic link, and keeps the permissions of the file. */
async function overwriteFile(file: string, text: string): Promise<void> {
  const path = await Deno.realPath(file);
  const { mode } = await Deno.stat(path);
  await replaceFile(path, text, { mode: (mode ?? 0o600) & 0o777 });
}
