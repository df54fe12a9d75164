/** What a person pastes to finish a sign-in: the address that the browser was sent to, or the code in it. Pure. */

/** What a pasted text means: what to finish the sign-in with, or why it cannot be that. */
export type Pasted =
  | { readonly redirect: string; readonly refusal?: undefined }
  | { readonly redirect?: undefined; readonly refusal: string };

/** The sign-in that is waited for. */
export interface AwaitedSignIn {
  /** The page that the person was asked to open. */
  readonly url: string;
  /** Where the browser goes after that. */
  readonly redirectUri: string;
}

/** Longer texts are no addresses and no codes, in characters. */
const MAX_LENGTH = 16_384;
/** A code has only these characters (RFC 6749, appendix A.11), and no white space. */
const CODE = /^[\x21-\x7e]+$/;
/** The shortest code: with less, it could be guessed. */
const MIN_CODE_LENGTH = 6;
/** A word of a language, such as an answer to a question that was never asked. */
const WORD = /^\p{L}{1,15}[.!?]?$/u;
/** An address, with or without its scheme. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;
const BARE_ADDRESS = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?[/?]/i;
/** What the browser adds to the address. */
const ANSWER_MEMBERS = ["code", "error", "state"];
const PASTE = "paste the address that the browser shows after the sign-in, or the code in it";

/** Reads a pasted text. The messages never contain the text. */
export function readPasted(pasted: string, awaited: AwaitedSignIn): Pasted {
  const text = unquoted(pasted.trim());
  if (text === "") return { refusal: `Nothing was pasted; ${PASTE}` };
  if (text.length > MAX_LENGTH) return { refusal: `This text is too long for an address; ${PASTE}` };
  if (ADDRESS.test(text)) return readAddress(text, awaited);
  if (BARE_ADDRESS.test(text)) return readAddress(`http://${text}`, awaited);
  const query = text.replace(/^[?&#]/, "");
  if (isAnswer(new URLSearchParams(query))) return { redirect: withQuery(awaited.redirectUri, query) };
  return readCode(text);
}

function readAddress(text: string, { url, redirectUri }: AwaitedSignIn): Pasted {
  const address = URL.parse(text);
  if (address === null) return { refusal: `This is not a whole address; ${PASTE}` };
  if (isSamePlace(address, new URL(url)) && !isAnswer(address.searchParams)) {
    return { refusal: `This is the address of the sign-in page; open it, sign in there, and ${PASTE}` };
  }
  if (!isSamePlace(address, new URL(redirectUri))) {
    return { refusal: `This is not the address that the browser is sent to, ${redirectUri}?…; ${PASTE}` };
  }
  if (!isAnswer(address.searchParams)) {
    return {
      refusal: `This address has no code in it; paste all of it, with what follows the question mark`,
    };
  }
  return { redirect: withQuery(redirectUri, address.search) };
}

function readCode(text: string): Pasted {
  if (/\s/.test(text)) {
    return { refusal: `This has white space in it and is neither an address nor a code; ${PASTE}` };
  }
  if (!CODE.test(text) || text.length < MIN_CODE_LENGTH || WORD.test(text)) {
    return { refusal: `This is neither an address nor a code; ${PASTE}` };
  }
  return { redirect: decoded(text) };
}

/** A code that was copied from an address. */
function decoded(code: string): string {
  try {
    return decodeURIComponent(code);
  } catch {
    return code;
  }
}

/** Whether these are the members of an answer of an authorization server: a code or an error, and which sign-in it is. */
function isAnswer(members: URLSearchParams): boolean {
  const [code, error] = ANSWER_MEMBERS.map((name) => members.get(name) ?? "");
  return code !== "" || error !== "";
}

/** Browsers may write the host of the loopback interface in another way. */
function isSamePlace(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && hostOf(one) === hostOf(other) && one.port === other.port &&
    one.pathname === other.pathname;
}

function hostOf({ hostname }: URL): string {
  return ["localhost", "[::1]"].includes(hostname) ? "127.0.0.1" : hostname;
}

function withQuery(redirectUri: string, query: string): string {
  const url = new URL(redirectUri);
  url.search = query;
  return url.href;
}

/** Without the quotes or the angle brackets that were copied with the text. */
function unquoted(text: string): string {
  const [, inner] = /^(?:"(.*)"|'(.*)'|<(.*)>|`(.*)`)$/s.exec(text)?.filter((part) => part !== undefined) ??
    [];
  return inner?.trim() ?? text;
}
