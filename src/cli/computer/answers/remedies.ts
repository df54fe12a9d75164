/** What the owner can do about an MCP server that does not run. Pure. */
import type { ServerState } from "../../../mcp/supervision/server_state.ts";
import { quoteWord } from "../../../terminal/words.ts";
import { loginCommand } from "../../program.ts";

/** What to do by the words of the failure, the first that fit. */
const REMEDIES: readonly (readonly [RegExp, (server: string) => string])[] = [
  [/no such command on the PATH/, () => 'Install the program, or write its whole path as "command"'],
  [/no such file|cwd/i, () => 'Correct the path in "command" or "cwd" of the entry'],
  [
    /Cannot resolve input "([^"]*)"/,
    () => 'Set the input ("input set"), or give it a default in the configuration',
  ],
  [
    /^No input named "/,
    () =>
      'Declare the input: add "inputs": [{"id": …, "type": "promptString"}] to the entry, or write ${env:NAME}',
  ],
  [/\bENOTFOUND|dns error|failed to lookup/i, () => 'Correct the host in "url" of the entry'],
  [
    /refused|unreachable|ECONN|error sending request/i,
    () => 'Start the program that listens at "url" of the entry, or correct the address',
  ],
  [/certificate|TLS/i, () => "Give the server a certificate that this machine trusts"],
  [/HTTP (?:401|403)/, () => 'Correct the credentials in "headers" of the entry, or sign in'],
  [/HTTP 404/, () => 'Correct the path in "url" of the entry'],
  [/no answer in|in \d+ ms/, (server) => `See whether it starts at all: ${logsOf(server)}`],
  [/exit code 127/, () => 'A program that "command" starts is missing; install it'],
  [/exit code|signal/, (server) => `See in its output why it ended: ${logsOf(server)}`],
];

/** What the owner can do; `undefined` for a server that runs or was stopped, and where nothing better is known. */
export function remedyOf(server: string, { status, lastError = "" }: ServerState): string | undefined {
  if (status === "needs sign-in") return `Sign in: ${loginCommand(server)}`;
  if (status !== "failed" && status !== "retrying") return undefined;
  return REMEDIES.find(([words]) => words.test(lastError))?.[1](server);
}

function logsOf(server: string): string {
  return `"server logs ${quoteWord(server)}"`;
}
