/** Sends a command to a Server that runs in another process of this user. */
import { basename, dirname, extname } from "@std/path";
import { readVariable, serviceFolders } from "../../files/user_sockets.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { openBrowser } from "../browser.ts";
import { exchange, toRequest } from "../control/exchange.ts";
import { NOBODY } from "../control/person.ts";
import { ExitRequest, NoRunningServerError, printError, UsageError } from "../outcome.ts";
import { commandLineOf } from "../program.ts";
import { controlFolder, controlPath, controlPaths, isListening, missingFlags } from "../socket_folder.ts";

/** Where systemd makes the folders of services, and of users. */
const RUN = "/run";

export interface ServerQuestion {
  /** The port of the Server; may be left out when one Server runs. */
  readonly port: number | undefined;
  readonly words: readonly string[];
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends a command to a running Server, and prints what it answers.
 *
 * @throws {NoRunningServerError} when no such Server runs.
 * @throws {UsageError} when several run and none is chosen, or a permission is missing.
 * @throws {ExitRequest} when the command failed, and has said why.
 */
export async function askServer({ port, signal, ...question }: ServerQuestion): Promise<void> {
  const { path, isService } = await findServer(port);
  // A service runs as another user, which opens no page in the browser of this one.
  const person = { ...NOBODY, print: console.log, ...!isService && { open: openBrowser } };
  const request = toRequest({ ...question, screen: currentScreen() });
  const { output, error, exitCode } = await exchange(path, request, { signal, person, progress() {} });
  if (output !== "") console.log(output);
  if (error !== "") printError(error);
  if (exitCode !== 0) throw new ExitRequest(exitCode);
}

async function findServer(port: number | undefined): Promise<{ path: string; isService: boolean }> {
  const name = port === undefined ? undefined : String(port);
  const folder = await controlFolder(name, "server");
  if (folder === undefined) throw new UsageError(await unavailableText(name));
  const wanted = name === undefined ? undefined : await controlPath(folder, name, "server");
  if (wanted !== undefined && await isListening(wanted)) return { path: wanted, isService: false };
  // Services of systemd run as other users; root may use their sockets, unless it has chosen another place for its own.
  const isApart = readVariable("XDG_RUNTIME_DIR")?.startsWith(`${RUN}/`) === false;
  const services = isApart ? [] : serviceFolders(RUN).flatMap(serviceFolders);
  const folders = new Set([folder, ...services]);
  const running = (await Promise.all([...folders].map((each) => controlPaths(each, "server")))).flat();
  const [only, ...more] = running.filter((path) => name === undefined || portOf(path) === name);
  if (only === undefined) {
    const which = port === undefined ? "a running Server" : `a running Server on port ${port}`;
    const others = running.length === 0 ? "" : `. Running: port ${running.map(portOf).join(", ")}`;
    throw new NoRunningServerError(
      `Cannot find ${which} of this user on this machine, in "${folder}"${others}`,
    );
  }
  if (more.length === 0) return { path: only, isService: dirname(only) !== folder };
  const ports = [only, ...more].map(portOf).join(", ");
  const text = `Cannot choose a Server: those of the ports ${ports} run on this machine`;
  throw new UsageError(`${text}; choose one with --port`);
}

function portOf(path: string): string {
  return basename(path, extname(path));
}

async function unavailableText(name: string | undefined): Promise<string> {
  const flags = await missingFlags(name, "server");
  return `Cannot reach a running Server: permissions are missing; add ${
    flags.join(" ")
  } to "deno run", or run ` +
    `"${commandLineOf("server")}" with -A`;
}
