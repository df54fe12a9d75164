/** Where the program of a command is, as a start of it would find it. */
import { isAbsolute, resolve } from "@std/path";

/** Where to look. */
export interface ProgramPlaces {
  /** The value of `PATH`. */
  readonly path: string;
  /** What a relative command counts from. */
  readonly cwd: string;
  /** The value of `PATHEXT`, on Windows. */
  readonly extensions?: string | undefined;
}

/**
 * Looks whether a command can be started: a path, or a name that some folder of the `PATH` has.
 *
 * @returns `undefined` where that cannot be told, for want of permission to look.
 */
export function hasProgram(
  command: string,
  { path, cwd, extensions = "" }: ProgramPlaces,
): boolean | undefined {
  const isPath = /[\\/]/.test(command) || isAbsolute(command);
  const folders = isPath ? [cwd] : path.split(delimiterOf()).filter((folder) => folder !== "");
  const endings = Deno.build.os === "windows" ? ["", ...extensions.split(";")] : [""];
  let isSure = true;
  for (const folder of folders) {
    for (const ending of endings) {
      const found = isProgram(resolve(cwd, folder, command + ending));
      if (found === true) return true;
      isSure &&= found !== undefined;
    }
  }
  return isSure ? false : undefined;
}

function delimiterOf(): string {
  return Deno.build.os === "windows" ? ";" : ":";
}

function isProgram(file: string): boolean | undefined {
  try {
    const { isFile, mode } = Deno.statSync(file);
    return isFile && (Deno.build.os === "windows" || ((mode ?? 0) & 0o111) !== 0);
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? undefined : false;
  }
}
