/** Sends a command to a Computer that runs in another process of this user. */
import { basename, extname } from "@std/path";
import { isRecord, parseJson } from "../../json/json.ts";
import type { Screen } from "../../terminal/screen.ts";
import { exchange, type ReplyListener, toRequest } from "../control/exchange.ts";
import type { ControlAnswer } from "../control/message.ts";
import { ComputerNotRunningError, printError, UsageError } from "../outcome.ts";
import { commandLineOf } from "../program.ts";
import {
  controlFolder,
  controlPath,
  controlPaths,
  isListening,
  listening,
  missingFlags,
} from "../socket_folder.ts";

/** How long a Computer may take to tell its name for an error message, in milliseconds. */
const NAME_TIMEOUT_MS = 1_000;

/** As `status` tells them: the URL of a Server, and an office. */
interface Place {
  readonly server?: unknown;
  readonly office?: unknown;
}

interface RunningComputer {
  readonly path: string;
  /** What its `status` prints; empty when it does not answer. */
  readonly status: Place & Readonly<Record<string, unknown>>;
}

export interface AskOptions extends Required<ReplyListener> {
  /** The name of the Computer; may be left out when one Computer runs. */
  readonly name: string | undefined;
  readonly nameSource: string;
  /** The Server and the office that the command line names: only a Computer that is there is asked. */
  readonly place: Place;
  readonly words: readonly string[];
  readonly json: boolean;
  /** The terminal that shows the answer; `undefined` when it is not a terminal. */
  readonly screen: Screen | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends a command to a running Computer and waits for the answer.
 *
 * @throws {ComputerNotRunningError} when no such Computer runs.
 * @throws {ConnectionClosedError} when the Computer ends before it answers.
 * @throws {ExitRequest} when the person declines a question.
 * @throws {UsageError} when `name` is needed to choose one of several, or a permission is missing.
 */
export async function askComputer(question: AskOptions): Promise<ControlAnswer> {
  const { signal, progress, person } = question;
  return await exchange(await findComputer(question), toRequest(question), { signal, progress, person });
}

/** The socket of the Computer of this name and place, or of the only one that runs there. */
async function findComputer({ name, nameSource, place }: AskOptions): Promise<string> {
  const folder = await controlFolder(name);
  if (folder === undefined) throw new UsageError(await unavailableText(name));
  const own = name === undefined ? undefined : await controlPath(folder, name);
  const there = placeText(place);
  if (own !== undefined && there === "" && await isListening(own)) return own;
  // With the permission for one socket alone, Deno would ask at the terminal for the others.
  const isOneAllowed = (await missingFlags()).length > 0;
  const paths = isOneAllowed ? await listening(own === undefined ? [] : [own]) : await controlPaths(folder);
  const running = await statusesOf(paths);
  const here = running.filter(({ status }) => !isElsewhere(status, place));
  const isNamed = ({ path, status }: RunningComputer) => path === own || status["name"] === name;
  const named = name === undefined ? here : here.filter(isNamed);
  // A variable may be meant for the Agent, and chooses none of several.
  const isOther = named.length === 0 && here.length === 1 && nameSource !== "--name";
  const [only, ...more] = isOther ? here : named;
  if (more.length > 0) {
    const text = `Cannot choose a Computer: ${listComputers(named)} run on this machine`;
    throw new UsageError(`${text}; choose one with --name`);
  }
  if (isOther) {
    const asked = `asking ${listComputers(here)}, the only one`;
    printError(`warning: no Computer "${name}" (from ${nameSource}) runs; ${asked}`);
  }
  if (only !== undefined) return only.path;
  const wanted = name === undefined ? "" : ` named "${name}" (from ${nameSource})`;
  const remedy = running.length > 0
    ? `. Running: ${listComputers(running)}. Choose one with --name, ${CONFIG_HINT}`
    : `${isOneAllowed || name === undefined ? "" : ": no Computer runs"}. ${START_HINT}`;
  throw new ComputerNotRunningError(
    `Cannot find a running Computer${wanted}${there} on this machine${remedy}`,
  );
}

const CONFIG_HINT = "or give --config, --documents or --skills to start one for this command alone";
const START_LINE = `${commandLineOf("computer")} --url URL --config FILE`;
const START_HINT = `Start one with "${START_LINE}", after a restart with the words of before, ${CONFIG_HINT}`;

function statusesOf(paths: readonly string[]): Promise<RunningComputer[]> {
  return Promise.all(paths.map(async (path) => ({ path, status: await statusAt(path) })));
}

/** The names that choose these Computers, and where they are. Without an answer, the name of the file is known alone. */
function listComputers(running: readonly RunningComputer[]): string {
  return running.map(({ path, status }) => {
    const { command_name, name = basename(path, extname(path)) } = status;
    return `"${command_name ?? name}"${placeText(status)}`;
  }).sort().join(", ");
}

function placeText({ server, office }: Place): string {
  return `${office ? ` in office "${office}"` : ""}${server ? ` at ${server}` : ""}`;
}

/** Whether a Computer is known to be on another Server or in another office. */
function isElsewhere(current: Place, { server, office }: Place): boolean {
  const isSame = server === undefined || !current.server ||
    URL.parse(String(server))?.href === URL.parse(String(current.server))?.href;
  return !isSame || Boolean(office && current.office) && office !== current.office;
}

/** What `status` of a Computer of this user tells, as JSON; an empty object when none of this name answers. */
export async function statusOf(name: string): Promise<Readonly<Record<string, unknown>>> {
  const folder = await controlFolder(name);
  return folder === undefined ? {} : await statusAt(await controlPath(folder, name));
}

async function statusAt(path: string): Promise<Readonly<Record<string, unknown>>> {
  const request = toRequest({ words: ["status"], json: true });
  try {
    const signal = AbortSignal.timeout(NAME_TIMEOUT_MS);
    const status = parseJson((await exchange(path, request, { signal, progress: () => {} })).output);
    return isRecord(status) ? status : {};
  } catch {
    return {};
  }
}

/**
 * The name by which commands of this user choose a Computer that starts: its own, or `NAME@OFFICE` beside a Computer of
 * the same name that is in another office. `undefined` when one of the name runs for the same office, which would refuse
 * the second, or for an office that is not known.
 */
export async function chooseCommandName(
  name: string,
  { url, office }: { readonly url?: string | undefined; readonly office?: string | undefined },
): Promise<string | undefined> {
  const folder = await controlFolder(name);
  if (folder === undefined) return name;
  const path = await controlPath(folder, name);
  if (!await isListening(path)) return name;
  const running = await statusAt(path);
  if (office === undefined || !isElsewhere(running, { server: url, office })) return undefined;
  const longer = `${name}@${office}`;
  return await isListening(await controlPath(folder, longer)) ? undefined : longer;
}

async function unavailableText(name: string | undefined): Promise<string> {
  const flags = await missingFlags(name);
  return `Cannot reach a running Computer: permissions are missing; add ${flags.join(" ")} to "deno run", ` +
    CONFIG_HINT;
}
