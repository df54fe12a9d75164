/** Text files that somebody names: read only where they are regular files of a bounded size. */
import { describeError } from "./text.ts";

/** What a file has to be. */
export interface RegularFileOptions {
  /** The largest size, in bytes. */
  readonly maxBytes: number;
  /** Says why a regular file is not read either; nothing by default. */
  readonly refuse?: ((file: Deno.FileInfo) => string | undefined) | undefined;
}

/** The text of a file, or why there is none: the state of the file in words for people, and the system's error. */
export type FileReading =
  | { readonly text: string }
  | { readonly state: string; readonly cause?: unknown };

/** Reads a text file. A pipe that nobody writes to could not even be given up, and a device need not end. */
export async function readRegularFile(
  path: string,
  { maxBytes, refuse }: RegularFileOptions,
): Promise<FileReading> {
  try {
    const file = await Deno.stat(path);
    const state = kindProblem(file, maxBytes) ?? refuse?.(file);
    return state === undefined ? { text: await Deno.readTextFile(path) } : { state };
  } catch (cause) {
    return { state: describeFileError(cause), cause };
  }
}

function kindProblem({ isFile, isDirectory, size }: Deno.FileInfo, maxBytes: number): string | undefined {
  if (isDirectory) return "it is a folder; name the file in it";
  if (!isFile) return "it is no regular file; write what it holds to a file";
  return size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}

/** Why a file cannot be read, in words for people. */
export function describeFileError(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "the file may not be read";
  if (error instanceof Deno.errors.NotCapable) return "reading is not permitted (--allow-read)";
  return describeError(error);
}
