/** The tools that `install.sh` fetches; a test without its tool is skipped, and the reason is printed. */
import { fromFileUrl } from "@std/path";
import { type Door, type DoorOptions, doorWords, RunningDoor } from "../fixtures/door.ts";

/** The root of the repository. */
export const ROOT = fromFileUrl(new URL("../../", import.meta.url));
const TOOLS = `${ROOT}.deploy-tools/`;

/** A program of the tools, or else of the machine. */
export interface Tool {
  readonly name: string;
  readonly command: string;
  /** Whether it is missing; for `Deno.test`. */
  readonly ignore: boolean;
}

/** Finds a tool and says so when it is missing. */
export function findTool(name: string, places: readonly string[]): Tool {
  const found = [...places.map((place) => `${TOOLS}${place}`), ...pathsOf(name)].find(isFile);
  if (found === undefined) {
    console.log(`deploy: skipped, no ${name}; "sh tests/deploy/install.sh" fetches it`);
  }
  return { name, command: found ?? name, ignore: found === undefined };
}

function pathsOf(name: string): string[] {
  return (Deno.env.get("PATH") ?? "").split(":").flatMap((folder) => [`${folder}/${name}`])
    // Debian keeps programs of the administrator where other users do not look.
    .concat(`/usr/sbin/${name}`);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** How a tool ended. */
export interface ToolOutcome {
  readonly code: number;
  readonly output: string;
}

/** Runs a tool in the root of the repository. */
export async function runTool({ command }: Tool, ...args: readonly string[]): Promise<ToolOutcome> {
  const run = new Deno.Command(command, { args: [...args], cwd: ROOT, stdout: "piped", stderr: "piped" });
  const { code, stdout, stderr } = await run.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** A Server that runs as a program. */
export interface RunningServer extends AsyncDisposable {
  readonly program: RunningDoor;
  readonly url: string;
  readonly port: number;
}

/** Starts `server.ts` on a free port. */
export function startServer(
  args: readonly string[],
  { deno = Deno.execPath(), permissions, env }: DoorOptions & { readonly deno?: string } = {},
): Promise<RunningServer> {
  const door: Door = "server.ts";
  const [, ...words] = doorWords(door, args, permissions);
  return untilListening(new RunningDoor([deno, ...words], { env: { PORT: "0", ...env } }));
}

/** Waits for the address of a Server that was started. */
export async function untilListening(program: RunningDoor): Promise<RunningServer> {
  const { port } = new URL(await program.listening());
  const url = `http://127.0.0.1:${port}`;
  return { program, url, port: Number(port), [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}
