/** What a workload proves its identity with (RFC 7523): the JSON Web Token that its platform gives it. */
import { readRegularFile } from "../../files.ts";
import type { OAuthSettings } from "../../protocol/config.ts";
import { SignInError } from "../errors.ts";

/** The largest file, in bytes. */
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Returns the configured assertion. A file is read each time: platforms replace the token in it.
 *
 * @throws {SignInError} when the file cannot be read, or is empty.
 */
export async function readAssertion({ assertion, assertionFile }: OAuthSettings): Promise<string> {
  if (assertion) return assertion;
  const path = assertionFile ?? "";
  const reading = await readRegularFile(path, { maxBytes: MAX_FILE_BYTES });
  const text = "text" in reading ? reading.text.trim() : "";
  if (text !== "") return text;
  const state = "text" in reading ? "it is empty" : reading.state;
  throw new SignInError(`Cannot read the assertion in "${path}": ${state}`);
}
