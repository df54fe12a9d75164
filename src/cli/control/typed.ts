/** Runs commands that another process has typed: what they print is its answer. */
import type { Command } from "commander";
import type { AnswerOutput, Presentation } from "../answers/answer.ts";
import { runTypedWords } from "../prompt/program.ts";
import { NOBODY, type Person } from "./person.ts";
import type { Actor, RunWords } from "./server.ts";

/** What a command needs of whoever has typed it. */
export interface Typed extends AnswerOutput {
  readonly signal: AbortSignal;
  readonly actor: Actor;
  readonly progress: (text: string) => void;
  readonly person: Person;
  readonly presentation: Presentation;
}

/** What nobody has typed: to declare the commands without running any. */
export const UNTYPED: Typed = {
  person: NOBODY,
  signal: new AbortController().signal,
  actor: { via: "command" },
  presentation: { json: true, screen: undefined },
  progress() {},
  print() {},
  printError() {},
};

/**
 * @param build Declares the commands, for each run again since commander keeps parsed values.
 * @param onRan Called after each command.
 */
export function runTyped(build: (typed: Typed) => Command, onRan: () => void = () => {}): RunWords {
  return async (words, { json, screen, ...context }) => {
    const output: string[] = [];
    const errors: string[] = [];
    const printError = (text: string) => void errors.push(text);
    const typed: Typed = {
      ...context,
      presentation: { json, screen },
      print: (text) => output.push(text),
      printError,
    };
    const { signal } = context;
    const exitCode = await runTypedWords(words, { build: () => build(typed), printError, json, signal });
    onRan();
    return { output: output.join("\n"), error: errors.join("\n"), exitCode };
  };
}
