/** Opens a Computer with the options of `computer.ts`. */
import { join } from "@std/path";
import { folderProblem, newFolderProblem } from "../../config/start_check.ts";
import { parseConfig } from "../../config/config.ts";
import { DOCUMENTS_TYPE, grantWarnings } from "../../config/documents.ts";
import { originOf } from "../../config/file.ts";
import { type Logger, withModule } from "../../log.ts";
import type { MCPServerConfig } from "../../protocol/config.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import { inputVariable } from "../../config/placeholders.ts";
import { DEFAULT_PROTOCOL, isFrom } from "../../protocol/version.ts";
import { type ConnectionOptions, readCredentials } from "../credentials.ts";
import { loggerOf, type LogOptions } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { HostedComputer, type HostedComputerOptions } from "./hosted_computer.ts";
import { HostedInputs } from "./hosted_inputs.ts";
import type { SignInPlace } from "./keychain.ts";
import { machineClaim, openTokens, PauseMark } from "./state_files.ts";

export interface ComputerCliOptions extends LogOptions, Partial<ConnectionOptions> {
  readonly config?: string;
  readonly inputs?: string;
  readonly documents?: readonly string[];
  readonly skills?: readonly string[];
  readonly uploads?: string;
  readonly signIns?: SignInPlace;
  /** In seconds. */
  readonly startTimeout?: number;
  readonly autoApply: boolean;
  readonly autoApplyReads: boolean;
  readonly watch: boolean;
  readonly headless: boolean;
  /** The name and the office that the owner has given; the others are those that the operator of the Server has given. */
  readonly own?: readonly (string | undefined)[];
  /** The port of the console; `true` for a free one. */
  readonly console?: number | true;
  readonly json: boolean;
}

/** How a Computer of the command line talks to the user. */
export interface HostedComputerSurroundings
  extends Pick<HostedComputerOptions, "isWatching" | "isLogShown" | "mayBeNew"> {
  readonly inputs?: InputSource | undefined;
  /** What to do when an input has no value, such as `set A2C_INPUT_KEY`, which is the default. */
  readonly inputRemedy?: ((id: string) => string) | undefined;
  readonly onFailed?: ((error: Error) => void) | undefined;
}

/** Starts nothing; throws a UsageError for options or a config that cannot be used. */
export async function openHostedComputer(
  options: ComputerCliOptions,
  around: HostedComputerSurroundings,
): Promise<HostedComputer> {
  const { url, path, office, own, config, inputs, documents, skills, uploads } = options;
  for (const folder of skills ?? []) assertNoProblem("--skills", folderProblem(folder));
  if (uploads !== undefined) assertNoProblem("--uploads", newFolderProblem(uploads));
  const { auth, ...credentials } = await readCredentials(options);
  const machine = await machineClaim(config);
  const name = options.name ?? defaultName();
  const logger = loggerOf("computer", options);
  const hosted = await HostedComputer.open({
    name,
    protocolVersion: options.protocol,
    configFile: config,
    mayBeNew: around.mayBeNew,
    added: documents === undefined ? [] : [serverOfDocuments(documents, logger)],
    isWatching: around.isWatching,
    inputs: new HostedInputs({
      environment: (name) => Deno.env.get(name),
      file: inputs,
      ask: around.inputs,
      remedy: around.inputRemedy ?? ((id) => `set ${inputVariable(id)} or give the input a default`),
    }),
    tokens: openTokens(options.signIns),
    // What an operator of the Server can change is no part of it, so that nobody else ends a pause.
    pauseMark: new PauseMark(url, ...own ?? [name, office]),
    connectOptions: {
      url,
      path,
      ...credentials,
      auth: machine === undefined ? auth : { machine, ...auth },
      onFailed: around.onFailed,
    },
    autoApply: options.autoApply ? "all" : options.autoApplyReads ? "reads" : undefined,
    skills,
    uploads,
    isLogShown: around.isLogShown,
    logger,
  });
  const protocol = options.protocol ?? hosted.store.config.protocolVersion ?? DEFAULT_PROTOCOL;
  if (uploads === undefined || isFrom(protocol, "0.4")) return hosted;
  throw new UsageError(
    `Cannot take uploads (--uploads): protocol ${protocol} has none; add --protocol 0.4, and start all members of the office with it, or leave out --uploads`,
  );
}

/** The server of `--documents`, as an entry of a configuration in the current folder has it. */
function serverOfDocuments(folders: readonly string[], logger: Logger): MCPServerConfig {
  for (const folder of folders) assertNoProblem("--documents", folderProblem(folder));
  const entry = { type: DOCUMENTS_TYPE, folders };
  const origin = originOf(join(Deno.cwd(), "config.json"));
  const { servers: [server] } = parseConfig({ servers: { [DOCUMENTS_TYPE]: entry } }, "--documents", {
    origin,
  });
  for (const warning of grantWarnings(entry, origin)) {
    withModule(logger, "config").warn(`--documents: ${warning}`);
  }
  if (server === undefined) throw new UsageError("Cannot use --documents: give a folder");
  return server;
}

function assertNoProblem(option: string, problem: string | undefined): void {
  if (problem !== undefined) throw new UsageError(`Cannot use ${option}: ${problem}`);
}

/** The name of the machine; `computer` without permission to read it. */
export function defaultName(): string {
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "hostname" });
  return state === "granted" ? Deno.hostname() : "computer";
}
