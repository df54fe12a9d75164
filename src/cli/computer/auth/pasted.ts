/** What a person pastes to finish a sign-in: the address that the browser was sent to, or the code in it. Pure. */
import { isSamePlace } from "../../../reach/addresses.ts";

/** What a pasted text means: what to finish the sign-in with, or why it cannot be that. */
export type Pasted =
  | { readonly redirect: string; readonly refusal?: undefined }
  | { readonly redirect?: undefined; readonly refusal: string };

export interface AwaitedSignIn {
  readonly url: string;
  readonly redirectUri: string;
  /** Whether a code, or a part of the address, does not finish it; false by default. */
  readonly needsAddress?: boolean;
}

/** Longer texts are no addresses and no codes, in characters. */
const MAX_LENGTH = 16_384;
/** A code has only these characters (RFC 6749, appendix A.11), and no white space. */
const CODE = /^[\x21-\x7e]+$/;
/** The shortest code: with less, it could be guessed. */
const MIN_CODE_LENGTH = 6;
/** A word of a language, such as an answer to a question that was never asked. */
const WORD = /^\p{L}{1,15}[.!?]?$/u;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;
const BARE_ADDRESS = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?[/?]/i;
const ANSWER_MEMBERS = ["code", "error", "state"];
const PASTE = "paste the address that the browser shows after the sign-in";

/** Reads a pasted text. The messages never contain the text. */
export function readPasted(pasted: string, awaited: AwaitedSignIn): Pasted {
  const text = unquoted(pasted.trim());
  const paste = awaited.needsAddress === true ? `${PASTE}, all of it` : `${PASTE}, or the code in it`;
  if (text === "") return { refusal: `Nothing was pasted; ${paste}` };
  if (text.length > MAX_LENGTH) return { refusal: `This text is too long for an address; ${paste}` };
  if (ADDRESS.test(text)) return readAddress(text, { awaited, paste });
  if (BARE_ADDRESS.test(text)) return readAddress(`http://${text}`, { awaited, paste });
  const query = text.replace(/^[?&#]/, "");
  const members = new URLSearchParams(query);
  if (isAnswer(members) && !(awaited.needsAddress === true && members.has("code"))) {
    return { redirect: withQuery(awaited.redirectUri, query) };
  }
  const reading = isAnswer(members) ? { redirect: text } : readCode(text, paste);
  if (awaited.needsAddress !== true || reading.redirect === undefined) return reading;
  const why = "A code alone does not say which authorization server it is from";
  return { refusal: `${why}; ${paste}, or set "issuer" in the "oauth" of the server` };
}

interface ReadingAddress {
  readonly awaited: AwaitedSignIn;
  readonly paste: string;
}

function readAddress(text: string, { awaited: { url, redirectUri }, paste }: ReadingAddress): Pasted {
  const address = URL.parse(text);
  if (address === null) return { refusal: `This is not a whole address; ${paste}` };
  if (isSamePlace(address, new URL(url)) && !isAnswer(address.searchParams)) {
    return { refusal: `This is the address of the sign-in page; open it, sign in there, and ${paste}` };
  }
  if (!isSamePlace(address, new URL(redirectUri))) {
    return { refusal: `This is not the address that the browser is sent to, ${redirectUri}?…; ${paste}` };
  }
  if (!isAnswer(address.searchParams)) {
    return {
      refusal: `This address has no code in it; paste all of it, with what follows the question mark`,
    };
  }
  return { redirect: withQuery(redirectUri, address.search) };
}

function readCode(text: string, paste: string): Pasted {
  if (/\s/.test(text)) {
    return { refusal: `This has white space in it and is neither an address nor a code; ${paste}` };
  }
  if (!CODE.test(text) || text.length < MIN_CODE_LENGTH || WORD.test(text)) {
    return { refusal: `This is neither an address nor a code; ${paste}` };
  }
  return { redirect: decoded(text) };
}

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
