/** `connect`, `join`, `leave`, `quit` */
import { machineCredentials } from "../../credentials.ts";
import { UsageError } from "../../outcome.ts";
import type { CommandAnswer } from "../../answers/answer.ts";
import { isServerUrl } from "../../options.ts";
import { commandLineOf } from "../../program.ts";
import type { CommandContext } from "../hosted_computer.ts";

const CONNECT_TIMEOUT_MS = 10_000;

/** Connects to a Server, by default to that of `--url`. */
export async function connect(
  { hosted, signal, progress }: CommandContext,
  { url = hosted.options.connectOptions.url, token }: {
    readonly url?: string | undefined;
    readonly token?: string;
  },
): Promise<CommandAnswer> {
  if (url === undefined) {
    throw new UsageError(`Cannot connect: no URL; give one, such as "connect http://127.0.0.1:3000"`);
  }
  await hosted.arrival?.stop();
  const { office } = hosted.computer.connection ?? {};
  if (office !== undefined) throw new UsageError(`Cannot connect to "${url}": ${leaveFirst(office)}`);
  progress(`connecting to ${url}`);
  const { connectOptions } = hosted.options;
  const joined = url === connectOptions.url ? undefined : await machineCredentials(url, connectOptions.ca);
  await hosted.computer.connect({
    ...connectOptions,
    ...(joined === undefined ? {} : { credentials: joined }),
    ...(token === undefined ? {} : { auth: { token }, credentials: undefined }),
    url,
    signal,
    timeoutMs: CONNECT_TIMEOUT_MS,
  });
  return { value: { server: url, connected: true }, text: `connected to ${url}` };
}

/** Joins an office of the connected Server, or else of the Server of `--url`. */
export async function join(
  { hosted, signal, progress }: CommandContext,
  { office }: { readonly office: string },
): Promise<CommandAnswer> {
  const { computer, options } = hosted;
  if (isServerUrl(office)) {
    throw new UsageError(
      `Cannot join a Server here: run "${commandLineOf("computer")} join ${office}" in a shell`,
    );
  }
  const url = computer.connection?.url ?? hosted.arrival?.url ?? options.connectOptions.url;
  if (url === undefined) {
    throw new UsageError(
      `Cannot join office "${office}": not connected; run "connect http://HOST:PORT" first`,
    );
  }
  await hosted.arrival?.stop();
  const joined = computer.connection?.office;
  if (joined === office) return { value: { office, server: url }, text: `already in office "${office}"` };
  if (joined !== undefined) throw new UsageError(`Cannot join office "${office}": ${leaveFirst(joined)}`);
  progress(`joining ${office}`);
  await computer.join({ ...options.connectOptions, url, office, signal, timeoutMs: CONNECT_TIMEOUT_MS });
  return { value: { office, server: url }, text: `joined office "${office}" as "${computer.name}"` };
}

/** Leaves the office and stays connected, or stops trying to reach the Server. */
export async function leave({ hosted }: CommandContext): Promise<CommandAnswer> {
  const { computer, arrival } = hosted;
  if (arrival !== undefined) {
    await arrival.stop();
    const { url, office: wanted = null } = arrival;
    return { value: { left: wanted, server: url }, text: `stopped trying to reach ${url}` };
  }
  const office = computer.connection?.office;
  if (office === undefined) {
    throw new UsageError(`Cannot leave: this Computer is in no office`);
  }
  await computer.leave({ stayConnected: true });
  return { value: { left: office }, text: `left office "${office}"` };
}

function leaveFirst(office: string): string {
  return `already in office "${office}"; run "leave" first`;
}

export function quit({ hosted }: CommandContext): CommandAnswer {
  hosted.quit();
  return { value: { quit: true }, text: "stopping" };
}
