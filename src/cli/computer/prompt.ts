/** The prompt of a Computer: reads commands, runs them and completes them. */
import { completeLine, type CompletionPlace, fileCandidates } from "../prompt/completion.ts";
import { ExitCode, ExitRequest, paintFailure, UsageError } from "../outcome.ts";
import { createPromptProgram, runTypedLine } from "../prompt/program.ts";
import { printAbove } from "../../terminal/bottom_line.ts";
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
import type { LocalMcp } from "../../computer/local_mcp.ts";
import { argumentCandidates, NO_ARGUMENTS, readArgument, toTexts } from "../answers/arguments.ts";
import { showProgress } from "../../terminal/progress.ts";
import { currentScreen, PLAIN } from "../../terminal/screen.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { inputOf } from "./answers/inputs.ts";
import type { Person } from "../control/person.ts";
import { Conversation, personAt } from "../control/conversation.ts";
import { UNTYPED } from "../control/typed.ts";
import { askForInput } from "./questions.ts";
import { AT_TERMINAL } from "./people/people.ts";
import type { CommandContext, HostedComputer } from "./hosted_computer.ts";
import type { Command } from "commander";
import { shareOptions } from "../program.ts";
import { type AnswerOutput, type Presentation, showAnswer } from "../answers/answer.ts";
import { addCommands } from "./commands.ts";

/** How long the Tab key waits for MCP servers, in milliseconds. */
const CANDIDATES_TIMEOUT_MS = 1_000;

export async function runPrompt(hosted: HostedComputer, editor: LineEditor): Promise<void> {
  const { quitting } = hosted;
  while (!quitting.aborted) {
    const line = await editor.read({ signal: quitting });
    if (line === undefined) return hosted.quit();
    await runLine(line, { hosted, editor });
  }
}

/** Runs one line; Ctrl-C ends the command and not the program. */
async function runLine(
  line: string,
  { hosted, editor }: { readonly hosted: HostedComputer; readonly editor: LineEditor },
): Promise<void> {
  using interruption = editor.listenForInterrupt();
  using progress = showProgress("");
  const screen = currentScreen();
  const printError = (text: string) => printAbove(paintFailure(text, screen?.palette ?? PLAIN));
  const typist: Typist = {
    hosted,
    signal: AbortSignal.any([interruption.signal, hosted.quitting]),
    progress: (text) => progress.update(text),
    place: AT_TERMINAL,
    presentation: { json: false, screen },
    print: printAbove,
    printError,
    person: personAt((work) => work(editor)),
    askFor: (id) => askForInput(editor, inputOf(hosted, id), {}),
  };
  await runTypedLine(line, {
    build: () => buildCommands(typist),
    printError,
    signal: typist.signal,
  });
}

export async function completePrompt(line: string, hosted: HostedComputer): Promise<string[]> {
  return await completeLine(declareCommands(hosted), line, {
    candidates: (place) => candidates(hosted, place),
  });
}

/** Declares the commands, to look at them and to run none. */
export function declareCommands(hosted: HostedComputer): Command {
  return buildCommands({ ...UNTYPED, hosted, place: AT_TERMINAL });
}

async function candidates(
  hosted: HostedComputer,
  { command, argument, word, words }: CompletionPlace,
): Promise<string[]> {
  const { computer } = hosted;
  switch (argument) {
    case "server":
    case "--mcp-server":
      return [...computer.servers.keys()];
    case "tool":
      return command[0] === "tool"
        ? computer.mcp.tools.map(({ shown }) => shown.name)
        : computer.tools.map(({ name }) => name);
    case "arguments":
      if (command[0] === "prompt") return await promptArguments(computer.mcp, words, word);
      return argumentCandidates(
        computer.tools.find(({ name }) => name === words[0])?.params_schema ?? {},
        word,
      );
    case "prompt":
      return await promptNames(computer.mcp);
    case "call":
      return [...hosted.people.waiting, ...computer.calls.running].map(({ id }) => id);
    case "question":
      return hosted.people.waiting.filter(({ kind }) => kind !== "call").map(({ id }) => id);
    case "input":
      return hosted.store.config.inputs.map(({ id }) => id);
    case "uri":
      return computer.uris;
    case "--window":
      return computer.uris.filter(hasWindowScheme);
    case "url":
      return hosted.options.connectOptions.url === undefined ? [] : [hosted.options.connectOptions.url];
    case "--cwd":
      return await fileCandidates(word);
    default:
      return [];
  }
}

export async function promptNames(mcp: LocalMcp): Promise<string[]> {
  const { prompts } = await mcp.getPrompts(undefined, { timeoutMs: CANDIDATES_TIMEOUT_MS });
  return prompts.map(({ name }) => name);
}

/**
 * `NAME=` for each argument of a prompt, then the values that its MCP server suggests.
 *
 * @param words The name of the prompt, and the arguments that are typed already.
 * @param word The argument that is half typed.
 */
export async function promptArguments(
  mcp: LocalMcp,
  words: readonly string[],
  word: string,
): Promise<string[]> {
  const [prompt = "", ...typed] = words;
  const cut = word.indexOf("=");
  if (cut < 0) {
    const { prompts } = await mcp.getPrompts(undefined, { timeoutMs: CANDIDATES_TIMEOUT_MS });
    return prompts.find(({ name }) => name === prompt)?.arguments?.map(({ name }) => `${name}=`) ?? [];
  }
  const name = word.slice(0, cut);
  try {
    const context = {
      arguments: toTexts(typed.reduce((read, each) => readArgument(each, read), NO_ARGUMENTS)),
    };
    const argument = { name, value: word.slice(cut + 1) };
    const { values } = await mcp.complete({ prompt, argument, context, timeoutMs: CANDIDATES_TIMEOUT_MS });
    return values.map((value) => `${name}=${value}`);
  } catch {
    // A prompt without suggestions, or a word that is no argument: there is nothing to complete.
    return [];
  }
}

/** Where a command was typed, and where its answer, its help and its errors are shown. */
export interface Typist extends Omit<CommandContext, "conversation">, AnswerOutput {
  readonly person: Person;
  readonly presentation: Presentation;
  /** Asks the user for the value of an input; `undefined` if there is no answer. */
  readonly askFor?: ((input: string) => Promise<string | undefined>) | undefined;
}

/** Declares the commands of a prompt, for each line again since commander keeps parsed values. */
export function buildCommands(typist: Typist): Command {
  const program = createPromptProgram(typist.print, typist.presentation.screen?.palette);
  program.option("--json", "print one JSON document", false);
  addCommands(program, async ({ name, work, asksFor, readsInput = false }) => {
    if (readsInput) {
      throw new UsageError(
        `Cannot read standard input for "${name}": it belongs to another process, or has the commands; give JSON or @FILE`,
      );
    }
    const typed = asksFor === undefined ? undefined : await typist.askFor?.(asksFor);
    if (asksFor !== undefined && typed === undefined) throw new ExitRequest(ExitCode.INTERRUPTED);
    const json = program.opts<{ json: boolean }>().json || typist.presentation.json;
    const conversation = new Conversation(typist.person, { json });
    showAnswer(await work({ ...typist, conversation }, typed), typist, { ...typist.presentation, json });
  });
  shareOptions(program);
  return program;
}
