/** The options of `call` that answer the questions of MCP servers. */
import { Option } from "commander";
import { CallParams } from "../answers/arguments.ts";
import { collectPair } from "../options.ts";
import type { AnswerOptions } from "./call_answers.ts";

export interface AnswerFlags {
  readonly answer?: Readonly<Record<string, string>>;
  readonly answers?: CallParams;
  /** Of the Agent's command line alone, as `questions`: at a Computer, a call that was typed needs no confirmation. */
  readonly approve?: boolean;
  readonly questions?: boolean;
}

export function answerOptions(): Option[] {
  return [
    new Option(
      "--answer <NAME=VALUE>",
      "the answer to a field of the same name, should the MCP server ask; repeatable",
    ).argParser(collectPair),
    new Option(
      "--answers <json>",
      "such answers as a JSON object, @FILE, or - for standard input; {} accepts the defaults",
    ).argParser((written) => new CallParams(written)),
  ];
}

/** The options of the Agent's command line beside these. */
export function agentAnswerOptions(): Option[] {
  return [
    new Option("--approve", "approve the call, should the Computer ask this Agent to confirm it").default(
      false,
    ),
    new Option(
      "--questions",
      "offer to answer questions also without a terminal; one that no option answers is declined, and told on " +
        "standard error",
    ).default(false),
  ];
}

/** Reads the answers, and the file or standard input that has them. */
export async function readAnswerFlags(flags: AnswerFlags, signal: AbortSignal): Promise<AnswerOptions> {
  const { answer: texts = {}, answers, approve: isApproved = false, questions: isOffered = false } = flags;
  const values = await answers?.read(signal);
  return { texts, values, isApproved, isOffered };
}

/** The words of the answers for a Computer of another process. */
export async function toAnswerWords(flags: AnswerFlags, signal: AbortSignal): Promise<string[]> {
  const { texts, values } = await readAnswerFlags(flags, signal);
  return [
    ...Object.entries(texts).flatMap(([name, text]) => ["--answer", `${name}=${text}`]),
    ...(values === undefined ? [] : ["--answers", JSON.stringify(values)]),
  ];
}
