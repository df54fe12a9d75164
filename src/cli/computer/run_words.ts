/** Runs the words of a command on a Computer, for the prompt and for other processes. */
import { ExitCode, ExitRequest } from "../outcome.ts";
import type { Command } from "commander";
import { createPromptProgram, runTypedWords } from "../prompt/program.ts";
import { shareOptions } from "../shared_options.ts";
import { type AnswerOutput, type Presentation, showAnswer } from "../answers/answer.ts";
import { Conversation, type Person } from "./conversation.ts";
import type { CommandContext } from "./hosted_computer.ts";
import { addCommands } from "./commands.ts";

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
  addCommands(program, async ({ work, asksFor }) => {
    const typed = asksFor === undefined ? undefined : await typist.askFor?.(asksFor);
    if (asksFor !== undefined && typed === undefined) throw new ExitRequest(ExitCode.INTERRUPTED);
    const json = program.opts<{ json: boolean }>().json || typist.presentation.json;
    const conversation = new Conversation(typist.person, { json });
    showAnswer(await work({ ...typist, conversation }, typed), typist, { ...typist.presentation, json });
  });
  shareOptions(program);
  return program;
}

export function runWords(words: readonly string[], typist: Typist): Promise<number> {
  const { signal, presentation, printError } = typist;
  return runTypedWords(words, {
    build: () => buildCommands(typist),
    printError,
    json: presentation.json,
    signal,
  });
}
