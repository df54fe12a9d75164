/** What the doors' exit codes mean. */
import { ErrorCode } from "../protocol/error_codes.ts";
import {
  AuthenticationError,
  ConnectionClosedError,
  JoinRefusedError,
  ProtocolVersionError,
  RequestTimeoutError,
  ServerUnreachableError,
} from "../protocol/local_errors.ts";

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
