/** What a service runs: a Computer with its options, and what of this environment it needs; no secret stands in it. */
import { resolve } from "@std/path";
import type { Command } from "commander";
import { privacyProblem, readRegularFile } from "../../../files/files.ts";
import { parseProxy } from "../../../reach/proxies.ts";
import { requireOptions } from "../../options.ts";
import { programCommand, refuseCachedProgram } from "../../other_program.ts";
import { UsageError } from "../../outcome.ts";
import { splitSharedOptions } from "../../program.ts";
import { completeByMachine, hintOfMachine } from "../../machine/complete.ts";
import type { JoinedServer } from "../../machine/joined_server.ts";
import { type ComputerCliOptions, defaultName } from "../open_computer.ts";

export interface ServicePlan {
  /** The name of the Computer. */
  readonly name: string;
  /** What starts the program `computer`. */
  readonly command: readonly string[];
  /** The options of the Computer. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder that relative paths start from. */
  readonly folder: string;
  /** The Server that gives the Computer its name, at each start. */
  readonly joined?: JoinedServer | undefined;
}

/** Options that hold secrets themselves. */
const SECRETS: readonly string[] = ["--token", "--auth", "--header"];
/** Settings that name a proxy, which may have no scheme. */
const PROXY = /^(?!no_).*proxy$/i;
/** Options that say how a command is run, not how a Computer is. */
const NOT_TAKEN: readonly string[] = ["--json", "--headless", "--name"];
const MAX_ENV_FILE_BYTES = 1_048_576;

/** What a service does not have by itself: where programs are, their caches, and the way into the network. */
const PASSED_VARIABLES: readonly string[] = [
  ...[
    "PATH",
    "LANG",
    "DENO_DIR",
    "DENO_TLS_CA_STORE",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
  ],
  ...["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"],
  ...["http_proxy", "https_proxy", "all_proxy", "no_proxy"],
];

/** Throws unless the options are there that a Computer without a terminal cannot do without. */
export async function requireServiceOptions(options: ComputerCliOptions): Promise<void> {
  const names = [
    ...["url", "office", "name"],
    ...(options.documents === undefined && options.skills === undefined ? ["config"] : []),
  ];
  requireOptions(options, names, await hintOfMachine(options));
}

/**
 * The service for the options of a command line, and for those behind its `--`.
 *
 * @throws {UsageError} an option is missing or unknown, or is a secret: others may read the file of a service.
 */
export async function planService(
  program: Command,
  { args, behind, envFile }: {
    readonly args: readonly string[];
    readonly behind: readonly string[];
    readonly envFile?: string | undefined;
  },
): Promise<ServicePlan> {
  const { operands, unknown } = program.parseOptions([...behind]);
  for (const word of [...operands, ...unknown]) {
    throw new UsageError(`Cannot install the service with "${word}": not an option of a Computer`);
  }
  const joined = await completeByMachine(program);
  const { name = defaultName(), ...options } = program.opts<ComputerCliOptions>();
  await requireServiceOptions({ ...options, name });
  const typed = [args, behind].flatMap((words) => splitSharedOptions(program, words).given)
    .map(([{ long }, ...value]) => ({ name: long ?? "", long, value }));
  // Their secrets come from the file of `--env-file`.
  const found = [...optionsOfEnvironment(program), ...PASSED_VARIABLES.flatMap((name) => variable(name))]
    .filter((setting) => envFile === undefined || !isSecret(setting));
  const settings = [...found, ...typed];
  for (const setting of settings.filter(isSecret)) {
    throw new UsageError(
      `Cannot write ${setting.name} into the file of the service, where others may read it: give --token-file or ` +
        "--token-command, or --env-file with a file that sets its variable",
    );
  }
  return {
    name,
    command: await commandOf(envFile),
    words: [
      "--headless",
      ...joined === undefined ? ["--name", name] : [],
      ...settings.flatMap(({ long, value }) => isTaken(long) ? [long, ...value] : []),
    ],
    env: Object.fromEntries(
      settings.flatMap(({ name, long, value }) => long === undefined ? [[name, ...value]] : []),
    ),
    folder: Deno.cwd(),
    joined,
  };
}

/** What starts the program `computer`, with the variables of a file. */
async function commandOf(envFile: string | undefined): Promise<readonly string[]> {
  const { command, args: [run = "", ...rest] } = programCommand("computer");
  refuseCachedProgram("install the service");
  return [command, run, ...envFile === undefined ? [] : [await envFileWord(envFile)], ...rest];
}

/** An option, or a variable of the environment. */
interface Setting {
  /** As the user has set it. */
  readonly name: string;
  readonly long: string | null | undefined;
  readonly value: readonly string[];
}

function variable(name: string, long?: string): Setting[] {
  const value = Deno.env.get(name) ?? "";
  return value === "" ? [] : [{ name, long, value: [value] }];
}

function optionsOfEnvironment(program: Command): Setting[] {
  const { tokenFile, tokenCommand } = program.opts<ComputerCliOptions>();
  return program.options.flatMap((option) => {
    const isUsed = program.getOptionValueSource(option.attributeName()) === "env";
    const isReplaced = option.long === "--token" && (tokenFile ?? tokenCommand) !== undefined;
    return isUsed && !isReplaced ? variable(option.envVar ?? "", option.long ?? "") : [];
  });
}

function isTaken(long: string | null | undefined): long is string {
  return typeof long === "string" && !NOT_TAKEN.includes(long);
}

/** Whether it is a secret itself, or has a password. */
function isSecret({ name, long, value }: Setting): boolean {
  const hasPassword = PROXY.test(name) ? hasProxyPassword : hasUrlPassword;
  return SECRETS.includes(long ?? "") || value.some(hasPassword);
}

function hasUrlPassword(text: string): boolean {
  const { username = "", password = "" } = URL.parse(text) ?? {};
  return username + password !== "";
}

/** One that cannot be read may have a password as well. */
function hasProxyPassword(text: string): boolean {
  try {
    return parseProxy({ name: "", value: text }).credentials !== undefined;
  } catch {
    return true;
  }
}

async function envFileWord(path: string): Promise<string> {
  const refuse = (file: Deno.FileInfo) => privacyProblem(file, path);
  const reading = await readRegularFile(path, { maxBytes: MAX_ENV_FILE_BYTES, refuse });
  if ("text" in reading) return `--env-file=${resolve(path)}`;
  throw new UsageError(`Cannot use --env-file "${path}": ${reading.state}`, { cause: reading.cause });
}
