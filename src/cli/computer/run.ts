/** Runs a Computer until it is stopped: with a prompt at a terminal, or as a service. */
import { abortable, onAbort, untilAborted } from "../../async/abortable.ts";
import { inputVariable } from "../../config/placeholders.ts";
import { printSafely } from "../../terminal/bottom_line.ts";
import { openLineEditor } from "../../terminal/editor/terminal_editor.ts";
import { quoteWord, splitWords } from "../../terminal/words.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { announce } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { commandLineOf } from "../program.ts";
import { openControl } from "../control/server.ts";
import { runTyped } from "../control/typed.ts";
import { openHostedConsole } from "./console.ts";
import { chooseCommandName } from "./ask_computer.ts";
import { buildCommands, completePrompt, runPrompt } from "./prompt.ts";
import { askedInputs, terminalFace } from "./questions.ts";
import type { HostedComputer } from "./hosted_computer.ts";
import { ON_PAGE } from "./people/people.ts";
import { type ComputerCliOptions, openHostedComputer } from "./open_computer.ts";
import { reportArrival, reportStart } from "./start.ts";
import { requireServiceOptions } from "./service/plan.ts";
import { stateFile } from "../../files/state_folder.ts";
import { isSecretName } from "../../computer/secrets/masking.ts";

/**
 * Runs as a service.
 *
 * @param signal Stops the Computer.
 * @throws {UsageError} when an option or the config cannot be used, or a Computer of this name runs already.
 * @throws when the Server refuses the Computer.
 */
export async function runHeadless(options: ComputerCliOptions, signal: AbortSignal): Promise<void> {
  const { url = "", office = "" } = options;
  await requireServiceOptions(options);
  const failed = Promise.withResolvers<Error>();
  await using hosted = await openHostedComputer(options, {
    isWatching: options.watch,
    inputRemedy: (id) => {
      const program = `${commandLineOf("computer")} --name ${quoteWord(hosted.commandName)}`;
      return `set ${inputVariable(id)}, or run: ${program} input set ${quoteWord(id)}`;
    },
    onFailed: failed.resolve,
  });
  const { name } = hosted.options;
  const commandName = await chooseCommandName(name, { url, office });
  if (commandName === undefined) {
    throw new UsageError(
      `Cannot start Computer "${name}": another Computer of this name runs already; ` +
        `stop it with "${commandLineOf("computer")} quit --name ${name}", or give this one another --name`,
    );
  }
  hosted.commandName = commandName;
  await hosted.start();
  // A service retries for ever while its name is taken, because no user is present to start it again.
  const arrival = hosted.arrive({ url, office, joinPatienceMs: Infinity, ...serversTimeoutOf(options) });
  await using _commands = await takeCommands(hosted, options);
  if (await abortable(arrival.done, signal)) {
    const text = `joined office "${office}" as "${name}"`;
    announce("computer", options, { text, message: "joined office", fields: { office, name } });
  }
  const error = await Promise.race([untilAborted(signal), untilAborted(hosted.quitting), failed.promise]);
  if (error !== undefined) throw error;
}

/** Runs with a prompt, until `quit`, Ctrl-D or an abort of `signal`. */
export async function runAtTerminal(options: ComputerCliOptions, signal: AbortSignal): Promise<void> {
  const opened: { hosted?: HostedComputer } = {};
  await using editor = await openLineEditor({
    prompt: () => promptOf(opened.hosted),
    complete: (line) => opened.hosted === undefined ? [] : completePrompt(line, opened.hosted),
    history: { file: stateFile("history"), isKept: isKeptLine },
  });
  await using hosted = await openHostedComputer(options, {
    isWatching: options.watch,
    inputs: askedInputs((work) => work(editor)),
    inputRemedy: (id) => `run "input set ${quoteWord(id)}"`,
    mayBeNew: true,
    onFailed: (error) => printSafely(`error: ${error.message}`),
    isLogShown: true,
  });
  opened.hosted = hosted;
  hosted.people.addFace(terminalFace(editor));
  using _quitting = onAbort(signal, () => hosted.quit());
  const { url, office } = options;
  const { name } = hosted.options;
  hosted.commandName = await chooseCommandName(name, { url, office }) ?? name;
  printSafely(`computer ${PACKAGE_VERSION}, "${name}". "help" lists the commands, Ctrl-D quits.`);
  if (hosted.store.isNew) {
    printSafely(`config "${hosted.store.file}" does not exist yet; "server add" creates it`);
  }
  const joined = url === undefined ? await joinedServer() : undefined;
  if (joined !== undefined) {
    printSafely(`in no office: this machine has joined ${joined}; "quit", and start it with --url ${joined}`);
  }
  await hosted.start();
  const arrival = url === undefined
    ? undefined
    : hosted.arrive({ url, office, ...serversTimeoutOf(options) });
  await using _commands = await takeCommands(hosted, options, () => editor.redraw());
  await reportStart(hosted.computer, { editor, signal: hosted.quitting });
  if (arrival !== undefined) await reportArrival(arrival, { name, editor });
  await runPrompt(hosted, editor);
}

/** A Server that this machine has joined by code. */
async function joinedServer(): Promise<string | undefined> {
  const { JoinedServer } = await import("../machine/joined_server.ts");
  return (await JoinedServer.servers())[0];
}

/** How long the first join waits for MCP servers; the default without `--start-timeout`. */
function serversTimeoutOf({ startTimeout }: ComputerCliOptions): { readonly serversTimeoutMs?: number } {
  return startTimeout === undefined ? {} : { serversTimeoutMs: startTimeout * 1000 };
}

function promptOf(hosted: HostedComputer | undefined): string {
  if (hosted === undefined) return "> ";
  const office = hosted.computer.connection?.office;
  return `${hosted.options.name}${office === undefined ? "" : `@${office}`}> `;
}

/** Runs commands of other processes and of the page. */
async function takeCommands(
  hosted: HostedComputer,
  options: ComputerCliOptions,
  onRan?: () => void,
): Promise<AsyncDisposable> {
  const { options: { logger: log }, commandName: name } = hosted;
  if (name !== hosted.options.name) log.info("commands choose this Computer by another name", { name });
  const runAt = (place: string) => runTyped((typed) => buildCommands({ hosted, place, ...typed }), onRan);
  await using opening = new AsyncDisposableStack();
  opening.use(await openControl("computer", { name, log, run: runAt("by a command") }));
  opening.use(await openHostedConsole(hosted, { ...options, run: runAt(ON_PAGE) }));
  return opening.move();
}

/** Options whose values are usually secrets. */
const SECRET_OPTION = /^(?:--(?:token|auth|headers?|env|params)|-[eHpPu])$/;
/** The command that takes a program with its arguments, or JSON. */
const ADDING = "server add";

/** Whether the history keeps a line; when in doubt it does not. */
export function isKeptLine(line: string): boolean {
  const words = wordsOf(line);
  const [first, second, ...rest] = words.filter((word) => !word.startsWith("--"));
  if (first === "input" && second === "set" && rest.length > 1) return false;
  // A config entry as JSON.
  if (`${first} ${second}` === ADDING && rest.some((word) => word.startsWith("{"))) return false;
  return !hasSecretMember(line) &&
    !words.some((word, i) => isSecret(word) || isSecretNamed(word, words[i + 1]) || hasSecretMember(word));
}

/** A URL with a password or a query, alone or after `NAME=`. */
function isSecret(word: string): boolean {
  const scheme = word.search(/\b(?:https?|wss?|[a-z]{1,20}(?:\+[a-z]{1,20})?):\/\//);
  if (scheme < 0) return false;
  const rest = word.slice(word.indexOf("://", scheme) + 3);
  return rest.includes("?") || rest.split("/", 1)[0]?.includes("@") === true || /:[^/]*\/.*@/.test(rest);
}

/** `--api-key VALUE`, `--api-key=VALUE`, `api-key=VALUE` and, within one word, `user=a pass=VALUE`. */
function isSecretNamed(word: string, next: string | undefined): boolean {
  const cut = word.indexOf("=");
  const name = cut < 0 ? word : word.slice(0, cut);
  const isNamed = SECRET_OPTION.test(name) || isSecretName(name) && /^[\w.-]+$/.test(name);
  return isNamed && (cut >= 0 || name.startsWith("-") && next !== undefined);
}

/** Whether a JSON member, an HTTP header or a pair within a word has the name of a secret. */
function hasSecretMember(word: string): boolean {
  return [...word.matchAll(/([\w.-]{1,64})["']?\s{0,8}[=:](?!\/\/)/g)].some(([, name = ""]) =>
    isSecretName(name)
  );
}

/** Splits a line; one with an unclosed quote is split roughly, since the user may correct and run it later. */
function wordsOf(line: string): string[] {
  try {
    return splitWords(line);
  } catch {
    return line.trim().split(/[\s'"]+/);
  }
}
