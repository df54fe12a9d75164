/** Which typed lines a history may keep: none with a secret. */
import { splitWords } from "../../cli/words.ts";
import { SECRET_NAME } from "../masking.ts";

/** Options whose values are secrets more often than not. */
const SECRET_OPTION = /^--(token|auth|header|env)$/;

/** Whether a line may be kept. What cannot be told from a secret is not. */
export function isKeptLine(line: string): boolean {
  const words = wordsOf(line);
  const [first, second, ...rest] = words.filter((word) => !word.startsWith("--"));
  if (first === "input" && second === "set" && rest.length > 1) return false;
  // The entry of a server as JSON
  if (first === "server" && second === "add" && rest.some((word) => word.startsWith("{"))) return false;
  return !words.some((word, i) => isSecret(word) || isSecretNamed(word, words[i + 1]));
}

/** An address with a password or a query, as one word or behind a name. */
function isSecret(word: string): boolean {
  return /\b(https?|wss?):\/\/([^/]*@|[^?]*\?)/.test(word);
}

/** `--api-key VALUE`, `--api-key=VALUE` and `api-key=VALUE`. */
function isSecretNamed(word: string, next: string | undefined): boolean {
  const cut = word.indexOf("=");
  const name = cut < 0 ? word : word.slice(0, cut);
  const isNamed = SECRET_OPTION.test(name) || SECRET_NAME.test(name) && /^[\w.-]+$/.test(name);
  return isNamed && (cut >= 0 || name.startsWith("-") && next !== undefined);
}

/** A line that cannot be read may be mended with an arrow key, so it counts as it would be read. */
function wordsOf(line: string): string[] {
  try {
    return splitWords(line);
  } catch {
    return line.trim().split(/[\s'"]+/);
  }
}
