/** Reading regular files of a bounded size, and replacing files in one step. */
import { dirname, join } from "@std/path";
import { describeError } from "../text/text.ts";

/** Limits for {@linkcode readRegularFile}. */
export interface RegularFileOptions {
  /** The largest size, in bytes. */
  readonly maxBytes: number;
  /** Returns why a regular file must not be read; every regular file may be read by default. */
  readonly refuse?: ((file: Deno.FileInfo) => string | undefined) | undefined;
}

/** The text of a file, or why it could not be read: `state` in words for users, `cause` from the system. */
export type FileReading =
  | { readonly text: string }
  | { readonly state: string; readonly cause?: unknown };

/** Reads a text file. Pipes and devices are refused, because reading them may never end. */
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
  if (isDirectory) return "it is a folder; give the path of a file";
  if (!isFile) return "it is not a regular file; write its content to a file first";
  return size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}

/** Why a file cannot be read, in words for users. */
export function describeFileError(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotCapable) return "reading it needs --allow-read";
  return describeError(error);
}

/**
 * Creates a file, or replaces it in one step, so that readers see the whole old content or the whole new content. A
 * symbolic link at `path` is replaced and not followed.
 *
 * @param options `mode`: the permissions of the new file, before the umask; 0o666 by default.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  { mode = 0o666 }: { readonly mode?: number } = {},
): Promise<void> {
  const draft = join(dirname(path), `.${crypto.randomUUID()}.tmp`);
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  try {
    await Deno.writeFile(draft, bytes, { createNew: true, mode });
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}
