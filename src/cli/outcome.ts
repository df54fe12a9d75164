/** How a command ends: exit codes, and failures as a line for people or a JSON object for programs. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError, withDetailsTold } from "../protocol/errors.ts";
import {
  AuthenticationError,
  ConnectionClosedError,
  JoinRefusedError,
  LeaveRefusedError,
  ProtocolVersionError,
  RequestTimeoutError,
  ServerUnreachableError,
} from "../link/errors.ts";
import { CommanderError, InvalidArgumentError } from "commander";
import { describeError } from "../text/text.ts";
import { errorPalette, type Palette } from "../terminal/screen.ts";
import { printable, printableLine, toSafeJson } from "../text/safe_text.ts";

export const ExitCode = {
  OK: 0,
  /** The request failed: an error answer, a tool result with `isError`, or an unexpected error. */
  FAILURE: 1,
  /** The command line, an environment variable or the config file is invalid. */
  USAGE: 2,
  /** The Server, or a Computer on this machine, could not be reached in time, or the connection was lost and not restored. */
  UNREACHABLE: 3,
  /** The Server refused the credentials, the protocol version or the join. */
  REFUSED: 4,
  TIMEOUT: 5,
  /** The name or the office's one seat is taken, or a limit of the Server leaves no place: a later attempt may succeed. */
  OCCUPIED: 6,
  INTERRUPTED: 130,
} as const;

/** An invalid command line or config; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/** What a command is about has changed: a call was answered already, or is another one than was shown; the exit code is 1. */
export class StateChangedError extends Error {
  override readonly name = "StateChangedError";
  readonly code = "STATE_CHANGED";
}

/** No such Computer runs on this machine; the exit code is 3. */
export class ComputerNotRunningError extends Error {
  override readonly name = "ComputerNotRunningError";
  readonly code = "COMPUTER_NOT_RUNNING";
}

/** No such Server runs on this machine; the exit code is 3. */
export class NoRunningServerError extends Error {
  override readonly name = "NoRunningServerError";
  readonly code = "SERVER_NOT_RUNNING";
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return ExitCode.USAGE;
  if (error instanceof JoinRefusedError) {
    // The Server answered, but cannot take members at the moment.
    if (error.serverCode === ErrorCode.UNAVAILABLE) return ExitCode.UNREACHABLE;
    return error.isPassing ? ExitCode.OCCUPIED : ExitCode.REFUSED;
  }
  if (
    error instanceof ServerUnreachableError || error instanceof ConnectionClosedError ||
    error instanceof ComputerNotRunningError || error instanceof NoRunningServerError
  ) return ExitCode.UNREACHABLE;
  if (
    error instanceof AuthenticationError || error instanceof ProtocolVersionError ||
    error instanceof LeaveRefusedError
  ) return ExitCode.REFUSED;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return error instanceof RequestTimeoutError ? ExitCode.TIMEOUT : exitCodeOfAnswer(code);
}

/** The exit code of an answer with this error code of the protocol. */
export function exitCodeOfAnswer(code: unknown): number {
  return code === ErrorCode.TIMEOUT || code === ErrorCode.TOOL_TIMEOUT ? ExitCode.TIMEOUT : ExitCode.FAILURE;
}

export interface Failure {
  readonly message: string;
  /** An error code of the protocol, or the code of a local error, such as `USAGE`. */
  readonly code?: number | string;
  readonly exitCode: number;
}

/** A request was answered, and the answer is a failure; exit code 1. */
export class CommandFailedError extends Error {
  override readonly name = "CommandFailedError";
  readonly code: number | undefined;

  constructor(message: string, options: { readonly code?: number | undefined } = {}) {
    super(message);
    this.code = options.code;
  }
}

/** Whether commander has already printed an error. It prints errors of the command line, but not those of an action. */
export function isPrinted(error: unknown): boolean {
  return error instanceof CommanderError && !(error instanceof InvalidArgumentError);
}

export function toFailure(error: unknown): Failure {
  if (error instanceof CommanderError) return toUsageFailure(error);
  const own = error instanceof Error && "code" in error ? error.code : undefined;
  const code = error instanceof JoinRefusedError ? error.serverCode ?? own : own;
  return {
    message: messageOf(error),
    ...(typeof code === "number" || typeof code === "string" ? { code } : {}),
    exitCode: exitCodeOf(error),
  };
}

function messageOf(error: unknown): string {
  // A Server tells a machine itself how it comes back.
  const hasRemedy = error instanceof AuthenticationError && error.message.includes("computer join");
  if (error instanceof AuthenticationError && error.serverCode !== ErrorCode.FORBIDDEN && !hasRemedy) {
    return `${error.message}; give valid credentials with --token (A2C_TOKEN), --token-file, --token-command, ` +
      '--auth or --header; who runs the Server has them, or approves "a2c-smcp computer join URL"';
  }
  if (error instanceof SmcpError) return printableLine(describeError(withDetailsTold(error)));
  // Of the others, only a join is refused in the words of somebody else.
  return error instanceof JoinRefusedError ? printableLine(error.message) : describeError(error);
}

function toUsageFailure({ code, message }: CommanderError): Failure {
  const isHelp = code === "commander.help";
  return {
    message: isHelp ? "Missing command; --help lists all commands" : message.replace(/^error: /, ""),
    code: "USAGE",
    exitCode: ExitCode.USAGE,
  };
}

/**
 * `error: MESSAGE (CODE)`, the code if it is a number; control characters in the message are replaced. Each problem of a
 * config is a line of its own.
 */
export function failureText({ message, code }: Failure): string {
  const lines = printable(message).replaceAll("\nCannot ", "\nerror: Cannot ");
  const isTold = typeof code !== "number" || lines.includes(`(${code})`);
  return `error: ${lines}${isTold ? "" : ` (${code})`}`;
}

/** Colors a line that begins with `error:` or `warning:`. */
export function paintFailure(text: string, { alarm, faint }: Palette): string {
  return text.replace(/^(?:error|warning):/gm, alarm).replace(/ \(\d+\)$/, faint);
}

export function printError(text: string): void {
  console.error(paintFailure(text, errorPalette()));
}

/** `{"error":{"message":…,"code":…,"exit_code":…}}` on one line. */
export function failureJson({ message, code, exitCode }: Failure): string {
  return toSafeJson({ error: { message, code, exit_code: exitCode } });
}

/** Thrown by a command that has printed its error and only sets the exit code. */
export class ExitRequest extends Error {
  override readonly name = "ExitRequest";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`Exit with code ${exitCode}`);
    this.exitCode = exitCode;
  }
}
