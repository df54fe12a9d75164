/** Asking a Computer that runs in another process. */
import { commandLineOf } from "../../program.ts";
import { UsageError } from "../../outcome.ts";
import { hasColors, type Screen } from "../../../terminal/screen.ts";
import { ServerUnreachableError } from "../../../protocol/local_errors.ts";
import { PACKAGE_VERSION } from "../../../version.ts";
import { type ControlAnswer, parseReply, readLines, toLine } from "./message.ts";
import { controlFolder, controlPath, controlPaths, isListening } from "./path.ts";

/** The longest answer, in bytes. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** What is asked, and how its answer is shown. */
export interface ControlQuestion {
  /** The Computer; may be left out when only one runs. */
  readonly name: string | undefined;
  readonly words: readonly string[];
  readonly json: boolean;
  readonly screen: Screen | undefined;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/**
 * Sends words to a Computer of this user and waits for its answer; an abort of `signal` cancels what they do there.
 *
 * @throws {ServerUnreachableError} when none runs, or it ends meanwhile.
 * @throws {UsageError} when several run and none was named.
 */
export async function askComputer(question: ControlQuestion): Promise<ControlAnswer> {
  const { words, json, screen, signal } = question;
  const path = await findComputer(question.name);
  const connection = await Deno.connect({ transport: "unix", path });
  const hangUp = () => connection.close();
  signal.addEventListener("abort", hangUp, { once: true });
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
    signal.removeEventListener("abort", hangUp);
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
  throw new ServerUnreachableError("Cannot use the Computer: it ended before it answered");
}

/** The socket of the named Computer, or of the only one. */
async function findComputer(name: string | undefined): Promise<string> {
  const folder = await controlFolder();
  if (folder === undefined) {
    throw new UsageError(
      "Cannot look for a Computer that runs: that needs --allow-read, --allow-write and --allow-net; with --config one is started for this command",
    );
  }
  if (name !== undefined) {
    const path = await controlPath(folder, name);
    if (await isListening(path)) return path;
    throw new ServerUnreachableError(`Cannot find Computer "${name}": it does not run here. ${HINT}`);
  }
  const running: string[] = [];
  for (const path of await controlPaths(folder)) if (await isListening(path)) running.push(path);
  const [only] = running;
  if (only === undefined) throw new ServerUnreachableError(`Cannot find a Computer: none runs here. ${HINT}`);
  if (running.length === 1) return only;
  throw new UsageError(`Cannot choose a Computer: ${running.length} run here; name one with --name`);
}

const HINT = `Start one with "${
  commandLineOf("computer")
}", or give --config to have one started for this command alone`;

function closeQuietly(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Closed already, with its stream.
  }
}
