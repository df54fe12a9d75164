/** What a workload or a person proves an identity with (RFC 7523): a JSON Web Token from the configuration or a file. */
import { readRegularFile } from "../../files.ts";
import type { IdentityProviderSettings, OAuthSettings } from "../../protocol/config.ts";
import { SignInError } from "../errors.ts";

const MAX_FILE_BYTES = 64 * 1024;

/**
 * Returns the configured assertion.
 *
 * @throws {SignInError} when its file cannot be read, or is empty.
 */
export async function readAssertion({ assertion, assertionFile }: OAuthSettings): Promise<string> {
  return assertion || await readTokenFile(assertionFile, "assertion");
}

/**
 * Returns the configured ID token.
 *
 * @throws {SignInError} when its file cannot be read, or is empty.
 */
export async function readIdToken({ idToken, idTokenFile }: IdentityProviderSettings): Promise<string> {
  return idToken || await readTokenFile(idTokenFile, "ID token");
}

/** A file is read each time: platforms replace the token in it. */
async function readTokenFile(file: string | null | undefined, what: string): Promise<string> {
  const path = file ?? "";
  const reading = await readRegularFile(path, { maxBytes: MAX_FILE_BYTES });
  const text = "text" in reading ? reading.text.trim() : "";
  if (text !== "") return text;
  const state = "text" in reading ? "it is empty" : reading.state;
  throw new SignInError(`Cannot read the ${what} in "${path}": ${state}`);
}
