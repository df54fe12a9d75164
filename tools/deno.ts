/**
 * Starts Deno itself: the very executable that runs the tool, so that no other version on the path takes part.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";

/** The root of the repository, where commands run unless told otherwise. */
export const root = fromFileUrl(new URL("../", import.meta.url));

/** Where and how Deno runs. */
export interface RunOptions {
  readonly cwd?: string;
  /** Beside the environment of the tool. */
  readonly env?: Record<string, string>;
  /** After so many milliseconds it is killed; never by default. */
  readonly limitMs?: number;
}

/** Runs Deno with these arguments on this terminal, and returns its exit code. */
export async function runDeno(
  args: readonly string[],
  { cwd = root, env = {}, limitMs }: RunOptions = {},
): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), { args: [...args], stdin: "null", cwd, env }).spawn();
  const timer = limitMs === undefined ? undefined : setTimeout(() => {
    console.error(`\n== killed after ${limitMs / 60_000} minutes: deno ${args.join(" ")}`);
    child.kill("SIGKILL");
  }, limitMs);
  const { code } = await child.status;
  clearTimeout(timer);
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
