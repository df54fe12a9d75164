/** Sends a command to a Computer that runs in another process of this user. */
import { readLines } from "../../../async/lines.ts";
import { ServerUnreachableError } from "../../../protocol/local_errors.ts";
import { hasColors, type Screen } from "../../../terminal/screen.ts";
import { PACKAGE_VERSION } from "../../../version.ts";
import { UsageError } from "../../outcome.ts";
import { commandLineOf } from "../../program.ts";
import { type ControlAnswer, parseReply, toLine } from "./message.ts";
import { controlFolder, controlPath, controlPaths, isListening, missingFlags } from "./path.ts";

/** The longest answer, in bytes. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** A command, and how its answer is shown. */
export interface ControlQuestion {
  /** The name of the Computer; may be left out when one Computer runs. */
  readonly name: string | undefined;
  readonly words: readonly string[];
  readonly json: boolean;
  /** The terminal that shows the answer; `undefined` when it is not a terminal. */
  readonly screen: Screen | undefined;
  /** Cancels the command on the Computer. */
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/**
 * Sends a command to a running Computer and waits for the answer.
 *
 * @throws {ServerUnreachableError} when no such Computer runs, or it ends before it answers.
 * @throws {UsageError} when `name` is needed to choose one of several, or a permission is missing.
 */
export async function askComputer(question: ControlQuestion): Promise<ControlAnswer> {
  const { words, json, screen, signal } = question;
  const path = await findComputer(question.name);
  const connection = await Deno.connect({ transport: "unix", path });
  const onAbort = () => connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const request = {
      version: PACKAGE_VERSION,
      words,
      json,
      columns: screen?.columns,
      colors: screen !== undefined && hasColors(),
    };
    await connection.writable.getWriter().write(toLine(request));
    return await readAnswer(connection, question.progress);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (!signal.aborted) closeQuietly(connection);
  }
}

async function readAnswer(
  connection: Deno.UnixConn,
  onProgress: (text: string) => void,
): Promise<ControlAnswer> {
  for await (const line of readLines(connection.readable, MAX_REPLY_BYTES)) {
    const reply = parseReply(line);
    if (reply === undefined) continue;
    if (!("progress" in reply)) return reply;
    onProgress(reply.progress);
  }
  throw new ServerUnreachableError("Cannot reach the Computer any more: it ended before it answered");
}

/** The socket of the named Computer, or of the only one that runs. */
async function findComputer(name: string | undefined): Promise<string> {
  const folder = await controlFolder(name);
  if (folder === undefined) throw new UsageError(await unavailableText(name));
  if (name !== undefined) {
    const path = await controlPath(folder, name);
    if (await isListening(path)) return path;
    throw new ServerUnreachableError(
      `Cannot find a running Computer named "${name}" on this machine. ${START_HINT}`,
    );
  }
  const running: string[] = [];
  for (const path of await controlPaths(folder)) if (await isListening(path)) running.push(path);
  const [only] = running;
  if (only === undefined) {
    throw new ServerUnreachableError(`Cannot find a running Computer on this machine. ${START_HINT}`);
  }
  if (running.length === 1) return only;
  throw new UsageError(
    `Cannot choose a Computer: ${running.length} run on this machine; give --name`,
  );
}

const START_HINT = `Start one with "${
  commandLineOf("computer")
}", or give --config to start one for this command alone`;

async function unavailableText(name: string | undefined): Promise<string> {
  const flags = await missingFlags(name);
  return flags.length === 0
    ? "Cannot reach a running Computer: this is not supported on Windows; give --config to start one"
    : `Cannot reach a running Computer: permissions are missing; add ${flags.join(" ")} to "deno run", ` +
      "or give --config to start one for this command alone";
}

function closeQuietly(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Closed already, with its stream.
  }
}
