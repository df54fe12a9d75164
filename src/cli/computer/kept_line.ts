/** Which typed lines a history may keep: none with a secret. */
import { splitWords } from "../../terminal/words.ts";
import { isSecretName } from "../../computer/secrets/masking.ts";

/** Options whose values are secrets more often than not. */
const SECRET_OPTION = /^(?:--(?:token|auth|headers?|env|params)|-[eHpPu])$/;
/** Commands that take a whole program with its arguments, or JSON. */
const ADDING = "server add";

/** Whether a line may be kept. What cannot be told from a secret is not. */
export function isKeptLine(line: string): boolean {
  const words = wordsOf(line);
  const [first, second, ...rest] = words.filter((word) => !word.startsWith("--"));
  if (first === "input" && second === "set" && rest.length > 1) return false;
  // The entry of a server as JSON
  if (`${first} ${second}` === ADDING && rest.some((word) => word.startsWith("{"))) return false;
  return !hasSecretMember(line) &&
    !words.some((word, i) => isSecret(word) || isSecretNamed(word, words[i + 1]) || hasSecretMember(word));
}

/** An address with a password or a query, as one word or behind a name. */
function isSecret(word: string): boolean {
  const scheme = word.search(/\b(?:https?|wss?|[a-z]{1,20}(?:\+[a-z]{1,20})?):\/\//);
  if (scheme < 0) return false;
  const rest = word.slice(word.indexOf("://", scheme) + 3);
  return rest.includes("?") || rest.split("/", 1)[0]?.includes("@") === true || /:[^/]*\/.*@/.test(rest);
}

/** `--api-key VALUE`, `--api-key=VALUE`, `api-key=VALUE` and, within one word, `user=a pass=VALUE`. */
function isSecretNamed(word: string, next: string | undefined): boolean {
  const cut = word.indexOf("=");
  const name = cut < 0 ? word : word.slice(0, cut);
  const isNamed = SECRET_OPTION.test(name) || isSecretName(name) && /^[\w.-]+$/.test(name);
  return isNamed && (cut >= 0 || name.startsWith("-") && next !== undefined);
}

/** A member of JSON, a header, or one of several pairs in one word, that is named like a secret. */
function hasSecretMember(word: string): boolean {
  return [...word.matchAll(/([\w.-]{1,64})["']?\s{0,8}[=:](?!\/\/)/g)].some(([, name = ""]) =>
    isSecretName(name)
  );
}

/** A line that cannot be read may be mended with an arrow key, so it counts as it would be read. */
function wordsOf(line: string): string[] {
  try {
    return splitWords(line);
  } catch {
    return line.trim().split(/[\s'"]+/);
  }
}
