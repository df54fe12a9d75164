/** Sends a command to a Computer that runs in another process of this user. */
import { basename, extname } from "@std/path";
import { isRecord, parseJson } from "../../../json.ts";
import { hasColors, type Screen } from "../../../terminal/screen.ts";
import { PACKAGE_VERSION } from "../../../version.ts";
import { ComputerNotRunningError, printError, UsageError } from "../../outcome.ts";
import { commandLineOf } from "../../program.ts";
import { type ControlAnswer, type ControlRequest, toLine } from "./message.ts";
import { controlFolder, controlPath, controlPaths, isListening, missingFlags } from "./path.ts";
import { readReplies, type ReplyListener } from "./replies.ts";

/** How long a Computer may take to tell its name for an error message, in milliseconds. */
const NAME_TIMEOUT_MS = 1_000;

export interface ControlQuestion extends Required<ReplyListener> {
  /** The name of the Computer; may be left out when one Computer runs. */
  readonly name: string | undefined;
  readonly nameSource: string;
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
 * @throws {UsageError} when `name` is needed to choose one of several, or a permission is missing.
 */
export async function askComputer(question: ControlQuestion): Promise<ControlAnswer> {
  const { words, json, screen, signal, progress, person } = question;
  const path = await findComputer(question);
  const request = {
    version: PACKAGE_VERSION,
    words,
    json,
    columns: screen?.columns,
    colors: screen !== undefined && hasColors(),
  };
  return await exchange(path, request, { signal, progress, person });
}

async function exchange(
  path: string,
  request: ControlRequest,
  { signal, ...listener }: ReplyListener & { readonly signal: AbortSignal },
): Promise<ControlAnswer> {
  const connection = await Deno.connect({ transport: "unix", path });
  const onAbort = () => connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const writer = connection.writable.getWriter();
    await writer.write(toLine(request));
    return await readReplies(connection.readable, { writer, listener });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (!signal.aborted) closeQuietly(connection);
  }
}

/** The socket of the named Computer, or of the only one that runs. */
async function findComputer({ name, nameSource }: ControlQuestion): Promise<string> {
  const folder = await controlFolder(name);
  if (folder === undefined) throw new UsageError(await unavailableText(name));
  if (name !== undefined) {
    const path = await controlPath(folder, name);
    if (await isListening(path)) return path;
    // A variable may be meant for the Agent, and chooses none of several.
    const mayBeOther = nameSource !== "--name" && (await missingFlags()).length === 0;
    const [other, ...more] = mayBeOther ? await runningPaths(folder) : [];
    if (other !== undefined && more.length === 0) {
      printError(
        `warning: no Computer "${name}" (from ${nameSource}) runs; asking ${await listNames([
          other,
        ])}, the only one`,
      );
      return other;
    }
    const wanted = `a running Computer named "${name}" (from ${nameSource}) on this machine`;
    throw new ComputerNotRunningError(`Cannot find ${wanted}${await remedyFor(folder)}`);
  }
  const running = await runningPaths(folder);
  const [only] = running;
  if (only === undefined) {
    throw new ComputerNotRunningError(
      `Cannot find a running Computer on this machine. ${START_HINT}`,
    );
  }
  if (running.length === 1) return only;
  throw new UsageError(
    `Cannot choose a Computer: ${await listNames(running)} run on this machine; choose one with --name`,
  );
}

const CONFIG_HINT = "or give --config or --documents to start one for this command alone";
const START_HINT = `Start one with "${commandLineOf("computer")}", ${CONFIG_HINT}`;

/** What a user can do when no Computer has the name: choose one of those that run, or start one. */
async function remedyFor(folder: string): Promise<string> {
  // With the permission for one socket alone, Deno would ask at the terminal for the others.
  if ((await missingFlags()).length > 0) return `. ${START_HINT}`;
  const running = await runningPaths(folder);
  return running.length === 0
    ? `: no Computer runs. ${START_HINT}`
    : `. Running: ${await listNames(running)}. Choose one with --name, ${CONFIG_HINT}`;
}

async function runningPaths(folder: string): Promise<string[]> {
  const running: string[] = [];
  for (const path of await controlPaths(folder)) if (await isListening(path)) running.push(path);
  return running;
}

async function listNames(paths: readonly string[]): Promise<string> {
  const names = await Promise.all(paths.map(nameAt));
  return names.sort().map((name) => `"${name}"`).join(", ");
}

/** The name that chooses the Computer at a socket; without an answer, the name of the file, which is the same for most. */
async function nameAt(path: string): Promise<string> {
  const { command_name, name = basename(path, extname(path)) } = await statusAt(path);
  return String(command_name ?? name);
}

async function statusAt(path: string): Promise<Readonly<Record<string, unknown>>> {
  const request = { version: PACKAGE_VERSION, words: ["status"], json: true };
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
  const isElsewhere = typeof running["server"] === "string" && url !== undefined &&
      URL.parse(running["server"])?.href !== URL.parse(url)?.href ||
    typeof running["office"] === "string" && running["office"] !== office;
  if (!isElsewhere || office === undefined) return undefined;
  const longer = `${name}@${office}`;
  return await isListening(await controlPath(folder, longer)) ? undefined : longer;
}

async function unavailableText(name: string | undefined): Promise<string> {
  const flags = await missingFlags(name);
  return flags.length === 0
    ? "Cannot reach a running Computer: this is not supported on Windows; give --config to start one"
    : `Cannot reach a running Computer: permissions are missing; add ${flags.join(" ")} to "deno run", ` +
      CONFIG_HINT;
}

function closeQuietly(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Closed already, with its stream.
  }
}
