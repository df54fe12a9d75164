/** `computer join URL`: joins a Server by a code that its operator approves. */
import { delay } from "../../async/backoff.ts";
import { toConnectError } from "../../link/connect_failure.ts";
import {
  type JoinedMachine,
  type JoinStarted,
  MACHINE_JOIN_PATH,
  MACHINE_STATE_PATH,
  parseJoinedMachine,
  parseJoinStarted,
} from "../../protocol/machines.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { quoteWord } from "../../terminal/words.ts";
import { printable, toSafeJson, toSeenName } from "../../text/safe_text.ts";
import { readCa } from "../credentials.ts";
import { CommandFailedError } from "../outcome.ts";
import { commandLineOf } from "../program.ts";
import { JoinedServer, type MachineAnswer } from "./joined_server.ts";

/** The Server counts from a little earlier; it answers within this time, in milliseconds. */
const LAST_MS = 20_000;
const WITHDRAWAL_MS = 2_000;

export interface JoinOptions {
  /** The name that it asks for. */
  readonly name: string;
  readonly caFile?: string | undefined;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/**
 * Prints a code, and waits until the operator of the Server has approved it.
 *
 * @throws {ServerUnreachableError} when the Server cannot be reached at the start.
 * @throws {CommandFailedError} when it refuses, or nobody approves the code in time.
 */
export async function joinByCode(url: string, options: JoinOptions): Promise<void> {
  const { name, caFile, json, signal } = options;
  const ca = caFile === undefined ? undefined : await readCa(caFile);
  const joined = await JoinedServer.begin(url, { ca });
  const { server, publicKey: key } = joined;
  const system = `${Deno.build.os} ${Deno.build.arch}`;
  const answer = await joined.ask(MACHINE_JOIN_PATH, {
    body: { key, name, system, server },
    subject: name,
    signal,
  })
    .catch((cause) => {
      signal.throwIfAborted();
      const failure = Object.assign(new TypeError("No answer"), { context: { statusText: cause } });
      throw toConnectError(failure, { url: server, requested: server, hasCa: ca !== undefined });
    });
  const started = parseJoinStarted(bodyOf(answer));
  if (started === undefined) throw new CommandFailedError(`Cannot join ${server}: its answer cannot be read`);
  const { code, link, expires_in } = started;
  console.log(json ? toSafeJson({ code, link, expires_in }) : await startText(started));
  const machine = await untilApproved(joined, started, signal).catch(async (error) => {
    if (signal.aborted) await withdraw(joined, started);
    throw error;
  });
  await joined.keep({ machine });
  const trust = caFile === undefined ? "" : ` --ca-file ${quoteWord(caFile)}`;
  const place = `--url ${quoteWord(server)}${trust} --config mcp.json`;
  const next = [place, `service install -- ${place}`].map((words) => `${commandLineOf("computer")} ${words}`);
  console.log(json ? toSafeJson({ server, ...machine, next }) : approvedText(server, machine, next));
}

async function startText({ code, link, expires_in }: JoinStarted): Promise<string> {
  const qr = await drawQrCode(link);
  return [
    printable(`Code  ${code}\nLink  ${link}`),
    ...qr === undefined ? [] : [qr],
    printable(
      `The operator of the Server approves it within ${
        Math.round(expires_in / 60)
      } minutes, on the page of the ` +
        `operator or with\n  ${commandLineOf("server")} machines approve ${code} --office OFFICE`,
    ),
  ].join("\n\n");
}

function approvedText(
  server: string,
  { id, name, offices, roles }: JoinedMachine,
  [run, install]: readonly string[],
): string {
  const what = `${roles.join(", ")} in ${offices.map(toSeenName).join(", ")}`;
  const text = `Joined ${server} as ${
    toSeenName(name)
  } (${id}): ${what}\n\nNow start the Computer:\n  ${run}`;
  const asked =
    'It asks you before a tool runs. What else it offers, such as "--documents", is read without a question.';
  return printable(`${text}\nor have it started after each sign-in:\n  ${install}\n${asked}`);
}

/** Asks again and again; a Server that is away for a while loses no join. */
async function untilApproved(
  joined: JoinedServer,
  { handle, interval, expires_in }: JoinStarted,
  signal: AbortSignal,
): Promise<JoinedMachine> {
  const endMs = performance.now() + expires_in * 1_000;
  while (performance.now() < endMs) {
    await delay(Math.max(1, interval) * 1_000, signal);
    const answer = await joined.ask(MACHINE_STATE_PATH, { subject: handle, signal })
      .catch(() => signal.throwIfAborted());
    if (answer === undefined || answer.status === 429 || answer.status >= 500) continue;
    if (answer.status === 401) {
      if (performance.now() >= endMs - LAST_MS) break;
      throw new CommandFailedError(
        `Cannot join ${joined.server}: the Server has forgotten the code (was it restarted?); run the command again`,
      );
    }
    const machine = parseJoinedMachine(bodyOf(answer));
    if (machine !== undefined) return machine;
  }
  throw new CommandFailedError(
    `Cannot join ${joined.server}: nobody has approved the code in time; run the command again`,
  );
}

/** The operator sees no machine that has gone; a Server that is away forgets it by itself. */
async function withdraw(joined: JoinedServer, { handle }: JoinStarted): Promise<void> {
  const question = { body: { withdraw: true }, subject: handle, signal: AbortSignal.timeout(WITHDRAWAL_MS) };
  await joined.ask(MACHINE_STATE_PATH, question).catch(() => {});
}

/** @throws when the Server has refused. */
function bodyOf({ status, body, refusal }: MachineAnswer): unknown {
  if (status === 200) return body;
  throw refusal;
}

/** A QR code in half blocks, for a terminal that is wide enough. The colors do not depend on its theme. */
async function drawQrCode(text: string): Promise<string | undefined> {
  const screen = currentScreen();
  if (screen === undefined) return undefined;
  // Loaded only now, since few commands draw one.
  const { encodeQR } = await import("qr");
  const lines = encodeQR(text, "ascii", { ecc: "low", border: 1 }).trimEnd().split("\n");
  const isWide = lines.every((line) => line.length <= screen.columns);
  return isWide ? lines.map((line) => `\u001b[97;40m${line}\u001b[0m`).join("\n") : undefined;
}
