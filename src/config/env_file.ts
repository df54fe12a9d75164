/** Variables from a file in which each line is `NAME=value`, read when an MCP server starts. */
import { parse } from "dotenv";
import { readRegularFile } from "../files.ts";
import { ConfigurationError } from "../mcp/errors.ts";

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
  const reading = await readRegularFile(path, { maxBytes: MAX_ENV_FILE_BYTES });
  if ("text" in reading) return reading.text;
  const { state, cause } = reading;
  throw new ConfigurationError(`Cannot read ${what} "${path}": ${state}`, { cause });
}
