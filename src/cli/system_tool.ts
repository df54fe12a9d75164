/** Runs programs of the system to their end: service managers, keychains. */
import { UsageError } from "./outcome.ts";

/** The exit code where there is no such program, as of a shell. */
const NO_PROGRAM = 127;

export interface ToolOutcome {
  readonly code: number;
  readonly text: string;
  /** What it wrote to stderr, or that there is no such program. */
  readonly problem: string;
}

/** @param options `input`: what it reads; no other process sees that, as it may see the arguments. */
export async function runTool(
  tool: string,
  args: readonly string[],
  { input = "", signal }: { readonly input?: string | undefined; readonly signal?: AbortSignal } = {},
): Promise<ToolOutcome> {
  const pipes = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  try {
    const child = new Deno.Command(tool, { args: [...args], ...pipes, ...signal && { signal } }).spawn();
    // One that fails at once reads nothing.
    await new Blob([input]).stream().pipeTo(child.stdin).catch(() => {});
    const { code, stdout, stderr } = await child.output();
    const toText = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
    return { code, text: toText(stdout), problem: toText(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { code: NO_PROGRAM, text: "", problem: `no program "${tool}" on the PATH` };
  }
}

/**
 * What a program writes that must succeed.
 *
 * @throws {UsageError} when it fails, or is not there.
 */
export async function requireTool(tool: string, ...args: string[]): Promise<string> {
  const { code, text, problem } = await runTool(tool, args);
  if (code === 0) return text;
  throw new UsageError(`Cannot run "${tool} ${args.join(" ")}": ${problem || text}`);
}
