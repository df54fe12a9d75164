/** The text of a refused join, leave or renewal of credentials: its ack has no other place for the code of the error. */
import { ErrorCode } from "./error_codes.ts";
import { type ProtocolMinor, toProtocolMinor } from "./version.ts";

/** A code within the sentence, such as `Protocol version mismatch (4008): …`. A quoted name may look like one. */
const CODE_IN_SENTENCE = /^[^'"]*\((\d{4})\)/;
/** A code behind the sentence, such as `Unauthorized: token expired (401)`. */
const CODE_BEHIND = /^(.*\S) \((\d{3,4})\)$/s;

/** Builds the text of a refusal: with its code at the end, unless the sentence has one. */
export function buildRefusalText(
  { message, code }: { readonly message: string; readonly code: number },
): string {
  return CODE_IN_SENTENCE.test(message) ? message : `${message} (${code})`;
}

/** Reads the text of a refusal: the sentence without a code at its end, and the code, if a Server wrote one. */
export function parseRefusalText(
  text: string,
): { readonly reason: string; readonly code: number | undefined } {
  const [, inSentence] = CODE_IN_SENTENCE.exec(text) ?? [];
  const [, reason = text, behind] = CODE_BEHIND.exec(text) ?? [];
  const code = inSentence ?? behind;
  return { reason, code: code === undefined ? undefined : Number(code) };
}

const VERSION_MISMATCH = `Protocol version mismatch (${ErrorCode.PROTOCOL_VERSION_MISMATCH}): `;

/** Builds the text of a refused join because the members of the office speak another `MAJOR.MINOR`. */
export function buildVersionRefusalText(
  { office, used, sent }: { readonly office: string; readonly used: string; readonly sent: string },
): string {
  return `${VERSION_MISMATCH}office "${office}" uses ${used}, this connection ${sent}`;
}

/**
 * The `MAJOR.MINOR` that the members of the office speak, when that is why a join was refused and this package
 * speaks it.
 */
export function parseVersionRefusalText(text: string): ProtocolMinor | undefined {
  if (!text.startsWith(VERSION_MISMATCH)) return undefined;
  // From the end: the name of an office may look like anything.
  const [, used] = /" uses (\d+\.\d+), this connection \d+\.\d+$/.exec(text) ?? [];
  return toProtocolMinor(used);
}
