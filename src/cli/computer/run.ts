/** A Computer that stays: with a prompt at a terminal, or as a service. */
import { join } from "@std/path";
import { abortable, untilAborted } from "../../async/abortable.ts";
import { commandLineOf } from "../program.ts";
import { loggerOf, requireOptions } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { parseLogLevels } from "../../log.ts";
import { describeError } from "../../text.ts";
import { openLineEditor } from "../../terminal/editor/terminal_editor.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { quoteWord } from "../../terminal/words.ts";
import { inputVariable } from "../../config/placeholders.ts";
import { controlFolder, controlPath, isListening } from "./control/path.ts";
import { ControlServer, type RunWords } from "./control/server.ts";
import { runWords } from "./run_words.ts";
import { type ComputerCliOptions, openSession, type Session } from "./session.ts";
import { isKeptLine } from "./kept_line.ts";
import { completePrompt, runPrompt } from "./prompt.ts";
import { askedConfirm, askedInputs } from "./questions.ts";
import { reportArrival, reportStart } from "./start.ts";

/** Works until the process is told to end. */
export async function runHeadless(options: ComputerCliOptions, signal: AbortSignal): Promise<void> {
  const { url = "", office = "" } = options;
  requireOptions(options, ["url", "office", "name", "config"]);
  const failed = Promise.withResolvers<Error>();
  const program = `${commandLineOf("computer")} --name ${quoteWord(options.name ?? "")}`;
  await using session = await openSession(options, {
    isWatching: options.watch,
    inputRemedy: (id) => `set ${inputVariable(id)}, or run: ${program} input set ${quoteWord(id)}`,
    onFailed: failed.resolve,
  });
  await refuseTakenName(session.options.name);
  await session.start();
  // Nobody is there to try again: the name may be free tomorrow.
  const arrival = session.arrive({ url, office, joinPatienceMs: Infinity });
  await using _control = await openControl(session);
  if (await abortable(arrival.done, signal)) tellJoined(options, session.options.name);
  const error = await Promise.race([untilAborted(signal), untilAborted(session.quitting), failed.promise]);
  if (error !== undefined) throw error;
}

/** The one line on standard output; whoever wants logs as JSON wants it so, too. */
function tellJoined({ office = "", logFormat }: ComputerCliOptions, name: string): void {
  if (logFormat === "text") return console.log(`joined office "${office}" as "${name}"`);
  const logger = loggerOf("computer", { logFormat, logLevel: parseLogLevels("info"), write: console.log });
  logger.info("joined office", { office, name });
}

/** Takes commands at a prompt until it is told to end. */
export async function runAtTerminal(options: ComputerCliOptions, signal: AbortSignal): Promise<void> {
  const opened: { session?: Session } = {};
  await using editor = await openLineEditor({
    prompt: () => promptOf(opened.session),
    complete: (line) => opened.session === undefined ? [] : completePrompt(line, opened.session),
    history: { file: historyFile(), isKept: isKeptLine },
  });
  await using session = await openSession(options, {
    isWatching: options.watch,
    inputs: askedInputs(() => Promise.resolve(editor)),
    inputRemedy: (id) => `"input set ${quoteWord(id)}" gives it one`,
    confirm: askedConfirm(editor),
    mayBeNew: true,
    onFailed: (error) => editor.print(`error: ${error.message}`),
    write: (line) => editor.print(line),
  });
  opened.session = session;
  const onAbort = () => session.quit();
  signal.addEventListener("abort", onAbort, { once: true });
  editor.print(
    `computer ${PACKAGE_VERSION}, "${session.options.name}". "help" shows the commands, Ctrl-D ends.`,
  );
  if (session.store.isNew) {
    editor.print(`config "${session.store.file}" is not there yet: "server add" makes it`);
  }
  await session.start();
  const { url, office } = options;
  const arrival = url === undefined ? undefined : session.arrive({ url, office });
  await using _control = await openControl(session, () => editor.redraw());
  await reportStart(session.computer, { editor, signal: session.quitting });
  if (arrival !== undefined) await reportArrival(arrival, { name: session.options.name, editor });
  await runPrompt(session, editor);
  signal.removeEventListener("abort", onAbort);
}

function promptOf(session: Session | undefined): string {
  if (session === undefined) return "> ";
  const { place } = session.computer;
  return `${session.options.name}${place?.office === undefined ? "" : `@${place.office}`}> `;
}

/** Where earlier lines are kept; nowhere without the permission to write there. */
function historyFile(): string | undefined {
  try {
    const home = Deno.env.get("HOME");
    const state = Deno.env.get("XDG_STATE_HOME") ??
      (home === undefined ? undefined : join(home, ".local", "state"));
    if (state === undefined) return undefined;
    const file = join(state, "a2c-smcp", "history");
    return Deno.permissions.querySync({ name: "write", path: file }).state === "granted" ? file : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Listens for commands. What prevents it is logged: a Computer is of use without them.
 *
 * @param onRan Hears after each command: what a prompt tells may have changed.
 */
async function openControl(session: Session, onRan = () => {}): Promise<AsyncDisposable> {
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
async function refuseTakenName(name: string): Promise<void> {
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
