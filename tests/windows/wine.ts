/** Deno for Windows under Wine, as `install.ts` has put it into `.windows/`. */
import { fromFileUrl } from "@std/path";
import { RunningDoor } from "../fixtures/door.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import type { Door, DoorOptions, DoorOutcome } from "../fixtures/door.ts";

/** The root of this repository. */
export const root = fromFileUrl(new URL("../../", import.meta.url)).replace(/\/$/, "");
export const windowsFolder = `${root}/.windows`;
/** Runs Deno for Windows with its arguments. */
export const windowsDeno = `${windowsFolder}/deno`;

/** Raised with each change of how the folder is made. */
const REVISION = 1;
export const stamp = `${REVISION} ${Deno.version.deno}\n`;

/** Whether Deno for Windows is there; without it, the tests that need it are skipped. */
export const hasWindows: boolean = readStamp() === stamp;

export function readStamp(): string {
  try {
    return Deno.readTextFileSync(`${windowsFolder}/ready`);
  } catch {
    return "";
  }
}

/** Variables for programs of the copy of Wine. */
export function wineEnvironment() {
  return {
    WINEPREFIX: `${windowsFolder}/prefix`,
    WINELOADER: `${windowsFolder}/wine/usr/lib/wine/wine64`,
    WINEDEBUG: "-all",
    DENO_DIR: toWindowsPath(`${windowsFolder}/cache`),
  };
}

/** The path of a file of this machine, as a program of Windows names it. */
export function toWindowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

/** The words that start a program of this repository on Windows. */
export function windowsWords(
  door: Door,
  args: readonly string[],
  permissions: readonly string[] = ["-A"],
): string[] {
  const flags = ["run", "--no-check", "--no-prompt", "--quiet", ...permissions];
  return [windowsDeno, ...flags, toWindowsPath(`${root}/${door}`), ...args];
}

let hasServices = false;

/** Starts the services of Wine, which would hold the output of the first program open, and end after the last one. */
function startServices(): void {
  if (hasServices) return;
  hasServices = true;
  const streams = { stdin: "null", stdout: "null", stderr: "null" } as const;
  new Deno.Command(windowsDeno, { args: ["--version"], ...streams }).outputSync();
}

/** Starts a program of this repository on Windows. */
export function startOnWindows(door: Door, args: readonly string[], options: DoorOptions = {}): RunningDoor {
  startServices();
  return new RunningDoor(windowsWords(door, args, options.permissions), options);
}

/** Runs a program of this repository on Windows to its end. */
export async function runOnWindows(
  door: Door,
  args: readonly string[],
  options: DoorOptions = {},
): Promise<DoorOutcome> {
  await using program = startOnWindows(door, args, options);
  return await program.end();
}

/** How long the tests of one folder may take, in milliseconds: each of their waits has a deadline of its own. */
const RUN_LIMIT_MS = 30 * 60_000;

/** Runs tests of this repository on Windows, and resolves to what they wrote. */
export async function runWindowsTests(
  paths: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  startServices();
  const flags = ["test", "-A", "--no-check", "--preload=./tests/fixtures/suppressed_errors.ts", "--parallel"];
  using folder = new TempFolder();
  const { code, stdout, stderr } = await new Deno.Command(windowsDeno, {
    args: [...flags, ...paths],
    cwd: root,
    env: { XDG_RUNTIME_DIR: folder.path, XDG_STATE_HOME: folder.path, NO_COLOR: "1" },
    stdin: "null",
    signal: AbortSignal.timeout(RUN_LIMIT_MS),
  }).output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, output: `${out}${errors}` };
}
