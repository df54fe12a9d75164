/** What secrets are called. */

/** Parts of names that mean a secret wherever they stand. */
const SECRET_PART =
  /token|secret|passw|passphrase|pwd|api[-_]?key|auth|credential|private|access[-_]?key|bearer|cookie|signature|connection[-_]?string|webhook/i;
/** Words that mean one only as a whole: "path" and "ping" are none. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  ["key", "keys", "pass", "pat", "jwt", "pin", "pw", "sas", "otp", "dsn", "sig", "creds", "session"],
);
/** Longer names are text. */
const MAX_NAME_LENGTH = 200;

/** Whether what goes by this name, an option, a variable, a header or a member, is usually a secret. */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return true;
  return SECRET_PART.test(name) || wordsOf(name).some((word) => SECRET_WORDS.has(word));
}

/** `--githubPAT`, `GITHUB_PAT` and `x-github.pat` have the same words. */
function wordsOf(name: string): string[] {
  return name.replace(/([a-z\d])(?=[A-Z])/g, "$1 ").toLowerCase().split(/[^a-z]+/);
}
