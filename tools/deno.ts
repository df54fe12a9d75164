/**
 * Starts Deno itself, the very executable that runs the tool, so that no other version on the path takes part; and other
 * commands of the machine.
 *
 * @module
 */

import { fileURLToPath } from "node:url";

/** The root of the repository, where commands run unless told otherwise. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** Where and how Deno runs. */
export interface RunOptions {
  readonly cwd?: string;
  /** Beside the environment of the tool. */
  readonly env?: Record<string, string>;
  /** After so many milliseconds it is killed; never by default. */
  readonly limitMs?: number;
  /** Whether its output is printed whole at its end, because others run beside it. */
  readonly isHeldBack?: boolean;
}

/** Runs Deno with these arguments on this terminal, says how long that took, and returns its exit code. */
export async function runDeno(
  args: readonly string[],
  { cwd = root, env = {}, limitMs, isHeldBack = false }: RunOptions = {},
): Promise<number> {
  const startMs = performance.now();
  const output = isHeldBack ? "piped" : "inherit";
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    stdin: "null",
    stdout: output,
    stderr: output,
    cwd,
    env,
  }).spawn();
  // What it started may outlive it and hold its output.
  const killed = new AbortController();
  const timer = limitMs === undefined ? undefined : setTimeout(() => {
    console.error(`\n== killed after ${limitMs / 60_000} minutes: deno ${args.join(" ")}`);
    child.kill("SIGKILL");
    killed.abort();
  }, limitMs);
  const parts: string[] = [];
  const keep = (stream: ReadableStream<Uint8Array<ArrayBuffer>>) =>
    stream.pipeThrough(new TextDecoderStream())
      .pipeTo(new WritableStream({ write: (part) => void parts.push(part) }), killed).catch(() => {});
  if (isHeldBack) await Promise.all([keep(child.stdout), keep(child.stderr)]);
  const { code } = await child.status;
  clearTimeout(timer);
  if (isHeldBack) console.log(parts.join(""));
  console.log(`== ${Math.round((performance.now() - startMs) / 1_000)} s: deno ${args.join(" ")}`);
  return code;
}

/** What a command printed, and its exit code. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Deno with these arguments and this standard input, without colors, and returns what it printed. */
export async function captureDeno(
  args: readonly string[],
  { input = "", cwd = root }: { readonly input?: string; readonly cwd?: string } = {},
): Promise<Output> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { NO_COLOR: "1" },
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ code, stdout, stderr }] = await Promise.all([
    child.output(),
    ReadableStream.from([new TextEncoder().encode(input)]).pipeTo(child.stdin),
  ]);
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Runs a command of the machine in a folder. */
export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Output> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, env }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

export async function succeed(name: string, running: Promise<Output>): Promise<Output> {
  const output = await running;
  if (output.code !== 0) {
    throw new Error(`Cannot run ${name}: exit code ${output.code}\n${output.stdout}${output.stderr}`);
  }
  return output;
}
