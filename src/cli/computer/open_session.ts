/** From the options of the command line to a session. */
import { authOf, type ConnectionOptions, loggerOf, type LogOptions } from "../options.ts";
import type { LoggerOptions } from "../../log.ts";
import { fileResolver } from "../../computer/resources/file_resolver.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import { inputVariable } from "../../config/placeholders.ts";
import type { Confirm } from "../../computer/tools/confirmation.ts";
import { Session } from "./session.ts";
import { SessionInputs } from "./session_inputs.ts";

/** What `computer.ts` is told by. */
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
