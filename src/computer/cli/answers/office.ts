/** `connect`, `join`, `leave`, `quit` */
import { UsageError } from "../../../cli/exit_codes.ts";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command_context.ts";

/** How long a command that a person waits for tries to reach the Server, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Connects to a Server, the one of the command line unless another is named. */
export async function connect(
  { session, signal, progress }: CommandContext,
  { url = session.options.place.url, token }: { readonly url?: string | undefined; readonly token?: string },
): Promise<Answer> {
  if (url === undefined) {
    throw new UsageError("Cannot connect: name the Server, such as http://127.0.0.1:3000");
  }
  progress(`connecting to ${url}`);
  await session.computer.connect({
    ...session.options.place,
    ...(token === undefined ? {} : { auth: { token } }),
    url,
    signal,
    timeoutMs: CONNECT_TIMEOUT_MS,
  });
  return { value: { server: url, connected: true }, text: `connected to ${url}` };
}

/** Joins an office over the connection there is, or over one to the Server of the command line. */
export async function join(
  { session, signal, progress }: CommandContext,
  { office }: { readonly office: string },
): Promise<Answer> {
  const { computer, options } = session;
  const url = computer.place?.url ?? options.place.url;
  if (url === undefined) throw new UsageError(`Cannot join office "${office}": connect to a Server first`);
  progress(`joining ${office}`);
  await computer.join({ ...options.place, url, office, signal, timeoutMs: CONNECT_TIMEOUT_MS });
  return { value: { office, server: url }, text: `joined office "${office}" as "${computer.name}"` };
}

/** Leaves the office; the connection stays. */
export async function leave({ session }: CommandContext): Promise<Answer> {
  const { computer } = session;
  const office = computer.place?.office;
  if (office === undefined) throw new UsageError("Cannot leave: no office is joined");
  await computer.leave({ stayConnected: true });
  return { value: { left: office }, text: `left office "${office}"` };
}

/** Asks the program to end. */
export function quit({ session }: CommandContext): Answer {
  session.quit();
  return { value: { quit: true }, text: "stopping" };
}
