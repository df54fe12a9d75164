/** Fields that ask for a secret. A form never does: MCP forbids it, and the values pass through Server and Agent. Pure. */
import { standIn } from "./look_alikes.ts";
import type { QuestionField } from "./question_form.ts";

/** Characters that nobody sees, which would take a word apart. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
const WORDS: ReadonlySet<string> = new Set([
  ...["password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pw", "secret", "secrets"],
  ...["token", "tokens", "jwt", "bearer", "credential", "credentials", "creds", "apikey"],
  "pat",
]);
/** Words that mean a secret that may be written as a number; a number of tokens is none. */
const NUMBER_WORDS: ReadonlySet<string> = new Set([
  ...["pin", "otp", "totp", "cvv", "cvc"],
  ...["password", "passwords", "passwd", "passphrase", "passcode", "pwd"],
  // In other languages of Latin letters, without their accents.
  ...["passwort", "kennwort", "contrasena", "senha", "wachtwoord", "losenord", "adgangskode", "salasana"],
  ...["haslo", "heslo", "jelszo", "lozinka", "sifre"],
]);
/** Two words that mean a secret together. */
const PAIRS: ReadonlySet<string> = new Set([
  ...["api key", "access key", "private key", "secret key", "signing key", "encryption key", "ssh key"],
  ...["recovery phrase", "seed phrase", "security code", "card number", "connection string"],
  ...["pass word", "pass phrase", "pass code", "verification code", "time code"],
  ...["de passe", "palavra passe", "kata sandi", "mat khau"],
]);
/** What means a secret wherever it stands in a word. */
const PART = /passw(?:or[dt]|d)|passphrase|kennwort|(?:api|access|private|secret)key/;
/** The same in other letters. */
const OTHER_SCRIPTS: readonly string[] = [
  ...["пароль", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호"],
  ...["كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "पासवर्ड", "รหัสผ่าน", "κωδικός πρόσβασης"],
].map(plainOf);
/** Letters that are easily read for Latin ones beside those that look like them. */
const ALMOST: Readonly<Record<string, string>> = { ω: "w", ł: "l", ø: "o" };
/** Digits and signs that stand for letters. */
const DISGUISES: Readonly<Record<string, string>> = {
  0: "o",
  1: "i",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  "@": "a",
  $: "s",
};
/** A word whose letters stand apart, as in `P a s s` and `p.a.s.s`. */
const SPELLED = /(?<!\p{L})(?:\p{L}[\s._-]{1,3}){2,}\p{L}(?!\p{L})/gu;

/**
 * The first field of a form that looks like a secret, by its format, name or title; `undefined` when none does. Whoever
 * wants to deceive finds other words: a person who answers still has to think.
 */
export function findSecretField(
  fields: readonly QuestionField[],
  schema: Readonly<Record<string, unknown>>,
): QuestionField | undefined {
  return fields.find((field) => {
    // Only what is typed in can be a secret: not one of the values that the server itself offers.
    if (field.kind !== "number" && field.kind !== "text") return false;
    const texts = [field.name, field.title ?? ""].map(plainOf);
    const readings = texts.flatMap(readingsOf);
    if (readings.some((words) => words.some((word) => NUMBER_WORDS.has(word) || PART.test(word)))) {
      return true;
    }
    if (texts.some((text) => OTHER_SCRIPTS.some((word) => text.toLowerCase().includes(word)))) return true;
    return isHidden(schema, field.name) || (field.kind === "text" && readings.some(areSecret));
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

/** A text without accents, letters of another width, and invisible ones. */
function plainOf(text: string): string {
  return text.normalize("NFKD").replace(UNSEEN, "").replace(/\p{M}/gu, "");
}

/** The words of a text, in each way that a person may read it: `apiKey`, `API_KEY` and `API key` are the same. */
function readingsOf(text: string): string[][] {
  const lower = text.toLowerCase();
  const readings = [
    text.replace(/([a-z\d])(?=[A-Z])/g, "$1 ").toLowerCase(),
    lower,
    lower.replace(SPELLED, (spelled) => spelled.replace(/\P{L}/gu, "")),
    lower.replace(/[\d@$]/g, (sign) => DISGUISES[sign] ?? sign),
  ];
  return readings.map((reading) => toLatin(reading).split(/[^a-z]+/).filter((word) => word !== ""));
}

/** Replaces letters that look like Latin ones in words that have Latin ones, too: a word of another language stays. */
function toLatin(text: string): string {
  return text.replace(
    /\p{L}+/gu,
    (word) =>
      /[a-z]/.test(word) ? word.replace(/[^a-z]/gu, (letter) => ALMOST[letter] ?? standIn(letter)) : word,
  );
}
