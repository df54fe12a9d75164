/** Fields that ask for a secret. A form never does: MCP forbids it, and the values pass through Server and Agent. Pure. */
import type { QuestionField } from "./question_form.ts";

/** Words that mean a secret. */
const WORDS: ReadonlySet<string> = new Set([
  ...["password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pw", "secret", "secrets"],
  ...["token", "tokens", "jwt", "bearer", "credential", "credentials", "creds", "apikey"],
  ...["pat", "passwort", "kennwort"],
]);
/** Words that mean a secret that may be written as a number; a number of tokens is none. */
const NUMBER_WORDS: ReadonlySet<string> = new Set([
  ...["pin", "otp", "totp", "cvv", "cvc"],
  ...["password", "passwords", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort"],
]);
/** Two words that mean a secret together. */
const PAIRS: ReadonlySet<string> = new Set([
  ...["api key", "access key", "private key", "secret key", "signing key", "encryption key", "ssh key"],
  ...["recovery phrase", "seed phrase", "security code", "card number", "connection string"],
  ...["pass word", "pass phrase", "pass code", "verification code", "time code"],
]);
/** Characters that nobody sees, which would take a word apart. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;

/** The first field of a form that looks like a secret, by its format, name or title; `undefined` when none does. */
export function findSecretField(
  fields: readonly QuestionField[],
  schema: Readonly<Record<string, unknown>>,
): QuestionField | undefined {
  return fields.find((field) => {
    // Only what is typed in can be a secret: not one of the values that the server itself offers.
    if (field.kind !== "number" && field.kind !== "text") return false;
    const words = [field.name, field.title ?? ""].map(wordsOf);
    if (words.some((each) => each.some((word) => NUMBER_WORDS.has(word)))) return true;
    return isHidden(schema, field.name) || (field.kind === "text" && words.some(areSecret));
  });
}

function isHidden(schema: Readonly<Record<string, unknown>>, name: string): boolean {
  const properties = new Map(Object.entries(schema["properties"] ?? {}));
  const { format, writeOnly } = { ...properties.get(name) };
  return format === "password" || writeOnly === true;
}

function areSecret(words: readonly string[]): boolean {
  return words.some((word, at) => WORDS.has(word) || PAIRS.has(`${word} ${words[at + 1] ?? ""}`));
}

/** The same for `apiKey`, `API_KEY` and `API key`, also in letters of another width and with invisible ones between. */
function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKC").replace(UNSEEN, "");
  return plain.replace(/([a-z\d])(?=[A-Z])/g, "$1 ").toLowerCase().split(/[^a-z]+/).filter((word) =>
    word !== ""
  );
}
