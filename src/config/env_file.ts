/** Reads files that an MCP server needs at its start: variables in lines of `NAME=value`, and single values. */
import { parse } from "dotenv";
import { readRegularFile } from "../files/files.ts";
import { ConfigurationError } from "../mcp/errors.ts";

const MAX_ENV_FILE_BYTES = 1_048_576;

export async function readEnvFile(path: string): Promise<Record<string, string>> {
  return parse(await readShortText(path, "env file"));
}

/** Reads a file as one value, without leading and trailing white space. */
export async function readValueFile(path: string): Promise<string> {
  return (await readShortText(path, "file")).trim();
}

async function readShortText(path: string, what: string): Promise<string> {
  const reading = await readRegularFile(path, { maxBytes: MAX_ENV_FILE_BYTES });
  if ("text" in reading) return reading.text;
  const { state, cause } = reading;
  throw new ConfigurationError(`Cannot read ${what} "${path}": ${state}`, {
    reason: "a file cannot be read",
    cause,
  });
}
