/** A Computer that stays: with a prompt at a terminal, or as a service. */
import { join } from "@std/path";
import { untilAborted } from "../../async/abortable.ts";
import { requireOptions } from "../../cli/options.ts";
import { quoteWord } from "../../cli/words.ts";
import { openLineEditor } from "../../cli/terminal/open_line_editor.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { openControl, refuseTakenName } from "./open_control.ts";
import { type ComputerCliOptions, openSession } from "./open_session.ts";
import { isKeptLine } from "./kept_line.ts";
import { completePrompt, runLine, runPrompt } from "./prompt.ts";
import { askedConfirm, askedInputs } from "./questions.ts";
import type { Session } from "./session.ts";
import { reportStart } from "./start_report.ts";

/** How long the MCP servers may keep the join waiting; whatever starts later is told to the Agent as a change. */
const START_GRACE_MS = 3_000;

/** Works until the process is told to end. */
export async function runHeadless(options: ComputerCliOptions, signal: AbortSignal): Promise<void> {
  const { url, office } = options;
  requireOptions(options, ["url", "office", "name", "config"]);
  const failed = Promise.withResolvers<Error>();
  await using session = await openSession(options, { isWatching: options.watch, onFailed: failed.resolve });
  await refuseTakenName(session.options.name);
  const computer = await session.start();
  await using _control = await openControl(session);
  await computer.ready({ timeoutMs: START_GRACE_MS, signal });
  await computer.join({ ...session.options.place, url: url ?? "", office: office ?? "", signal });
  console.log(`joined office "${office}" as "${computer.name}"`);
  const error = await Promise.race([untilAborted(signal), untilAborted(session.quitting), failed.promise]);
  if (error !== undefined) throw error;
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
    confirm: askedConfirm(editor),
    onFailed: (error) => editor.print(`error: ${error.message}`),
    write: (line) => editor.print(line),
  });
  opened.session = session;
  const onAbort = () => session.quit();
  signal.addEventListener("abort", onAbort, { once: true });
  editor.print(
    `computer ${PACKAGE_VERSION}, "${session.options.name}". "help" shows the commands, Ctrl-D ends.`,
  );
  await session.start();
  await using _control = await openControl(session, () => editor.redraw());
  await reportStart(session, editor);
  const { url, office } = options;
  if (url !== undefined) {
    await runLine(office === undefined ? "connect" : `join ${quoteWord(office)}`, { session, editor });
  }
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
