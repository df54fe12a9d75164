/** A configuration in a file. */
import { describeError } from "../protocol/errors.ts";
import { type ComputerConfig, ConfigError, parseConfigText } from "./config.ts";

export async function readConfigFile(path: string): Promise<ComputerConfig> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    throw new ConfigError(`Cannot read config "${path}": ${describeError(error)}`, { cause: error });
  }
  return parseConfigText(text, path);
}
