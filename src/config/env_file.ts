/** Variables from a file in which each line is `NAME=value`, read when an MCP server starts. */
import { parse } from "dotenv";
import { ConfigurationError } from "../mcp/errors.ts";
import { describeError } from "../text.ts";

/** A file of variables that is larger than this is none, in bytes. */
const MAX_ENV_FILE_BYTES = 1_048_576;

/**
 * Reads the variables of a file.
 *
 * @throws {ConfigurationError} that names the file when it cannot be read.
 */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  return parse(await readShortText(path, "env file"));
}

/**
 * Reads the value that a file holds, without the white space around it.
 *
 * @throws {ConfigurationError} that names the file when it cannot be read.
 */
export async function readValueFile(path: string): Promise<string> {
  return (await readShortText(path, "file")).trim();
}

async function readShortText(path: string, what: string): Promise<string> {
  let state: string | undefined;
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) state = "it is no file";
    else if (size > MAX_ENV_FILE_BYTES) state = `it has more than ${MAX_ENV_FILE_BYTES} bytes`;
    else return await Deno.readTextFile(path);
  } catch (cause) {
    throw new ConfigurationError(`Cannot read ${what} "${path}": ${stateOf(cause)}`, { cause });
  }
  throw new ConfigurationError(`Cannot read ${what} "${path}": ${state}`);
}

function stateOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  return error instanceof Deno.errors.NotCapable
    ? "reading is not permitted (--allow-read)"
    : describeError(error);
}
