/** How a failed command is told: a line for people, a JSON object for programs. */
import { CommanderError, InvalidArgumentError } from "commander";
import { describeError } from "../text.ts";
import { ExitCode, exitCodeOf } from "./exit_codes.ts";
import type { Palette } from "../terminal/screen.ts";
import { printable, toSafeJson } from "../terminal/safe_text.ts";

/** What went wrong. */
export interface Failure {
  readonly message: string;
  /** A number of the protocol, or the name of an error of ours. */
  readonly code?: number | string;
  /** The exit code of a program that ends so. */
  readonly exitCode: number;
}

/** A command failed for a reason that an answer has told; exit code 1. */
export class CommandFailedError extends Error {
  override readonly name = "CommandFailedError";
  /** What the answer gave as its code. */
  readonly code: number | undefined;

  constructor(message: string, options: { readonly code?: number | undefined } = {}) {
    super(message);
    this.code = options.code;
  }
}

/** Whether commander has told an error already: all of its own, but none that an action throws. */
export function isTold(error: unknown): boolean {
  return error instanceof CommanderError && !(error instanceof InvalidArgumentError);
}

/** What a thrown value tells. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CommanderError) return toUsageFailure(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return {
    message: describeError(error),
    ...(typeof code === "number" || typeof code === "string" ? { code } : {}),
    exitCode: exitCodeOf(error),
  };
}

function toUsageFailure({ code, message }: CommanderError): Failure {
  const isHelp = code === "commander.help";
  return {
    message: isHelp ? "Cannot run: no command; --help lists them" : message.replace(/^error: /, ""),
    code: "USAGE",
    exitCode: ExitCode.USAGE,
  };
}

/** `error: …` with the protocol's code; a stranger's words may stand in it. */
export function failureText({ message, code }: Failure): string {
  return `error: ${printable(message)}${typeof code === "number" ? ` (${code})` : ""}`;
}

/** A line of {@linkcode failureText}, or one that begins as such a line does, in colours. */
export function paintFailure(text: string, { alarm, faint }: Palette): string {
  return text.replace(/^(?:error|warning):/, alarm).replace(/ \(\d+\)$/, faint);
}

/** `{"error":{"message":…,"code":…,"exit_code":…}}` on one line. */
export function failureJson({ message, code, exitCode }: Failure): string {
  return toSafeJson({ error: { message, code, exit_code: exitCode } });
}
