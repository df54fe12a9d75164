/** Letting other processes of this user ask a Computer. */
import { describeError } from "../../../text.ts";
import { commandLineOf } from "../../program.ts";
import { UsageError } from "../../outcome.ts";
import { ControlServer, isListening } from "./server.ts";
import type { RunWords } from "./conversation.ts";
import { controlFolder, controlPath } from "./path.ts";
import { runWords } from "../run_words.ts";
import type { Session } from "../session.ts";

/**
 * Listens for commands. What prevents it is logged: a Computer is of use without them.
 *
 * @param onRan Hears after each command: what a prompt tells may have changed.
 */
export async function openControl(session: Session, onRan = () => {}): Promise<AsyncDisposable> {
  const { logger: log, name } = session.options;
  const what = "other processes cannot send commands to this Computer";
  try {
    const folder = await controlFolder();
    if (folder !== undefined) {
      const run = runFor(session, onRan);
      return await ControlServer.open(await controlPath(folder, name), { log, run });
    }
    log.info(what, { reason: "that needs --allow-read, --allow-write and --allow-net" });
  } catch (error) {
    log.warn(what, { error: describeError(error) });
  }
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

/**
 * Checks that no Computer of this user and name runs here: both would want the same place in an office, and commands
 * could not tell them apart.
 *
 * @throws {UsageError} when one does.
 */
export async function refuseTakenName(name: string): Promise<void> {
  const folder = await controlFolder();
  if (folder === undefined || !await isListening(await controlPath(folder, name))) return;
  throw new UsageError(
    `Cannot start Computer "${name}": one of that name runs here already; ` +
      `end it with "${commandLineOf("computer")} quit --name ${name}", or give this one another --name`,
  );
}

function runFor(session: Session, onRan: () => void): RunWords {
  return async (words, { json, screen, signal, progress }) => {
    const output: string[] = [];
    const errors: string[] = [];
    const exitCode = await runWords(words, {
      session,
      signal,
      progress,
      presentation: { json, screen },
      print: (text) => output.push(text),
      printError: (text) => errors.push(text),
    });
    onRan();
    return { output: output.join("\n"), error: errors.join("\n"), exitCode };
  };
}
