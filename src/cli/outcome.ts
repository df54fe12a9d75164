/** How a command ends: exit codes, and failures as a line for people or a JSON object for programs. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError, withDetailsTold } from "../protocol/errors.ts";
import {
  AuthenticationError,
  ConnectionClosedError,
  JoinRefusedError,
  ProtocolVersionError,
  RequestTimeoutError,
  ServerUnreachableError,
} from "../protocol/local_errors.ts";
import { CommanderError, InvalidArgumentError } from "commander";
import { describeError } from "../text.ts";
import { errorPalette, type Palette } from "../terminal/screen.ts";
import { printable, toSafeJson } from "../terminal/safe_text.ts";

/** The exit codes of `server.ts`, `computer.ts` and `agent.ts`. */
export const ExitCode = {
  OK: 0,
  /** The request failed: an error answer, a tool result with `isError`, or something unforeseen. */
  FAILURE: 1,
  /** The command line, a variable of the environment or the config file is wrong. */
  USAGE: 2,
  /** The Server could not be reached in time, or the connection was lost for good. */
  UNREACHABLE: 3,
  /** The Server refused: credentials, protocol version, or the join. */
  REFUSED: 4,
  /** No answer in time. */
  TIMEOUT: 5,
  /** Ended by Ctrl-C before the command was done. */
  INTERRUPTED: 130,
} as const;

/** A wrong command line or config: shown without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/** The exit code for whatever ended a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return ExitCode.USAGE;
  if (error instanceof ServerUnreachableError || error instanceof ConnectionClosedError) {
    return ExitCode.UNREACHABLE;
  }
  if (
    error instanceof AuthenticationError || error instanceof ProtocolVersionError ||
    error instanceof JoinRefusedError
  ) return ExitCode.REFUSED;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return error instanceof RequestTimeoutError ? ExitCode.TIMEOUT : exitCodeOfAnswer(code);
}

/** The exit code for an answer with this code of the protocol. */
export function exitCodeOfAnswer(code: unknown): number {
  return code === ErrorCode.TIMEOUT || code === ErrorCode.TOOL_TIMEOUT ? ExitCode.TIMEOUT : ExitCode.FAILURE;
}

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
    message: describeError(error instanceof SmcpError ? withDetailsTold(error) : error),
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

/** Prints the line, or the JSON object, that says what failed, on standard error. */
export function printError(text: string): void {
  console.error(paintFailure(text, errorPalette()));
}

/** `{"error":{"message":…,"code":…,"exit_code":…}}` on one line. */
export function failureJson({ message, code, exitCode }: Failure): string {
  return toSafeJson({ error: { message, code, exit_code: exitCode } });
}

/** Thrown by a command that has told its user what is wrong and only wants to end with this code. */
export class ExitRequest extends Error {
  override readonly name = "ExitRequest";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`Exit with code ${exitCode}`);
    this.exitCode = exitCode;
  }
}
