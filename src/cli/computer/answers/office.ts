/** `connect`, `join`, `leave`, `quit` */
import { UsageError } from "../../outcome.ts";
import type { Answer } from "../../answers/answer.ts";
import type { CommandContext } from "../command_context.ts";

/** How long a command that a person waits for tries to reach the Server, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Connects to a Server, the one of the command line unless another is named. */
export async function connect(
  { session, signal, progress }: CommandContext,
  { url = session.options.place.url, token }: { readonly url?: string | undefined; readonly token?: string },
): Promise<Answer> {
  if (url === undefined) {
    throw new UsageError(`Cannot connect: name the Server, such as "connect http://127.0.0.1:3000"`);
  }
  await session.arrival?.stop();
  const { office } = session.computer.place ?? {};
  if (office !== undefined) throw new UsageError(`Cannot connect to "${url}": ${leaveFirst(office)}`);
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
  const url = computer.place?.url ?? session.arrival?.url ?? options.place.url;
  if (url === undefined) {
    throw new UsageError(
      `Cannot join office "${office}": no Server; "connect http://HOST:PORT" connects to one`,
    );
  }
  await session.arrival?.stop();
  const joined = computer.place?.office;
  if (joined === office) return { value: { office, server: url }, text: `in office "${office}" already` };
  if (joined !== undefined) throw new UsageError(`Cannot join office "${office}": ${leaveFirst(joined)}`);
  progress(`joining ${office}`);
  await computer.join({ ...options.place, url, office, signal, timeoutMs: CONNECT_TIMEOUT_MS });
  return { value: { office, server: url }, text: `joined office "${office}" as "${computer.name}"` };
}

/** Leaves the office; the connection stays. */
export async function leave({ session }: CommandContext): Promise<Answer> {
  const { computer, arrival } = session;
  if (arrival !== undefined) {
    await arrival.stop();
    const { url, office: wanted = null } = arrival;
    return { value: { left: wanted, server: url }, text: `${url} is not tried any more` };
  }
  const office = computer.place?.office;
  if (office === undefined) {
    throw new UsageError(`Cannot leave: no office is joined; "join OFFICE" joins one`);
  }
  await computer.leave({ stayConnected: true });
  return { value: { left: office }, text: `left office "${office}"` };
}

function leaveFirst(office: string): string {
  return `office "${office}" is joined; "leave" leaves it`;
}

/** Asks the program to end. */
export function quit({ session }: CommandContext): Answer {
  session.quit();
  return { value: { quit: true }, text: "stopping" };
}
