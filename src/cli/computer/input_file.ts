/** Values of inputs from a file that nobody else may read. */
import { readRegularFile } from "../../files.ts";
import { isRecord, parseJson } from "../../json.ts";
import type { InputValue } from "../../config/placeholders.ts";

/** What others than its owner may do with a file. */
const OTHERS = 0o077;
/** A file of inputs that is larger than this is refused, in bytes. */
const MAX_INPUTS_BYTES = 8 * 1024 * 1024;

/**
 * Reads the values of inputs from a JSON file such as `{ "api-key": "…", "port": 8080 }`.
 *
 * @throws {TypeError} when others than its owner may read it, or it is no such file. The message shows no value.
 */
export async function readInputFile(path: string): Promise<ReadonlyMap<string, InputValue>> {
  const text = await readPrivately(path);
  const values = parseValues(text);
  if (values === undefined) {
    throw new TypeError(
      `Cannot read inputs "${path}": it must be a JSON object of strings, numbers and booleans by input id`,
    );
  }
  return values;
}

async function readPrivately(path: string): Promise<string> {
  const refuse = (file: Deno.FileInfo) => refusalOf(file, path);
  const reading = await readRegularFile(path, { maxBytes: MAX_INPUTS_BYTES, refuse });
  if ("text" in reading) return reading.text;
  const { state, cause } = reading;
  throw new TypeError(`Cannot read inputs "${path}": ${state}`, { cause });
}

/** Why a file is left alone, if there is a reason. */
function refusalOf({ mode }: Deno.FileInfo, path: string): string | undefined {
  const isOpen = mode !== null && Deno.build.os !== "windows" && (mode & OTHERS) !== 0;
  return isOpen ? `others can read it; run: chmod 600 ${path}` : undefined;
}

function parseValues(text: string): Map<string, InputValue> | undefined {
  const value = parseJson(text);
  if (!isRecord(value)) return undefined;
  const values = new Map<string, InputValue>();
  for (const [id, each] of Object.entries(value)) {
    if (typeof each !== "string" && typeof each !== "number" && typeof each !== "boolean") return undefined;
    values.set(id, each);
  }
  return values;
}
