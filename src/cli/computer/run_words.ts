/** Running the words of a command against a session, wherever they were typed. */
import { ExitCode, exitCodeOfAnswer, ExitRequest, failureJson, failureText } from "../outcome.ts";
import type { Command } from "commander";
import { createPromptProgram, runTypedWords } from "../prompt/program.ts";
import { shareOptions } from "../shared_options.ts";
import { type Answer, presentAnswer, type Presentation } from "../answers/answer.ts";
import type { CommandContext } from "./command_context.ts";
import { addCommands } from "./commands.ts";

/** Whoever typed the words. */
export interface Typist extends CommandContext {
  readonly presentation: Presentation;
  /** Takes answers and help. */
  readonly print: (text: string) => void;
  /** Takes what went wrong. */
  readonly printError: (text: string) => void;
  /** Asks for the value of an input; `undefined` for no answer. */
  readonly askFor?: ((input: string) => Promise<string | undefined>) | undefined;
}

/** The commands as they are typed at a prompt, declared anew for each line since commander keeps what was parsed. */
export function buildCommands(typist: Typist): Command {
  const program = createPromptProgram(typist.print, typist.presentation.screen?.palette);
  program.option("--json", "print one JSON document", false);
  addCommands(program, async ({ work, asksFor }) => {
    const typed = asksFor === undefined ? undefined : await typist.askFor?.(asksFor);
    if (asksFor !== undefined && typed === undefined) throw new ExitRequest(ExitCode.INTERRUPTED);
    const { json } = program.opts<{ json: boolean }>();
    showAnswer(await work(typist, typed), typist, {
      ...typist.presentation,
      json: json || typist.presentation.json,
    });
  });
  shareOptions(program);
  return program;
}

/** Runs one command and gives its exit code; never rejects. */
export async function runWords(words: readonly string[], typist: Typist): Promise<number> {
  const { signal, presentation, printError } = typist;
  return await runTypedWords(words, {
    build: () => buildCommands(typist),
    fail(failure) {
      if (signal.aborted) printError("interrupted");
      else printError(presentation.json ? failureJson(failure) : failureText(failure));
    },
  });
}

/** Shows an answer, and ends with another exit code than 0 where the answer is that something failed. */
export function showAnswer(
  answer: Answer,
  { print, printError }: Pick<Typist, "print" | "printError">,
  presentation: Presentation,
): void {
  const shown = presentAnswer(answer, presentation);
  if (shown !== "") print(shown);
  if (answer.failure === undefined) return;
  const exitCode = exitCodeOfAnswer(answer.code);
  const { failure: message, code } = answer;
  const failure = { message, exitCode, ...(code === undefined ? {} : { code }) };
  if (presentation.json) printError(failureJson(failure));
  else if (message !== answer.text) printError(failureText(failure));
  throw new ExitRequest(exitCode);
}
