/** What an authorization server gives a person: the address of a page, and a code to enter there. */
import { SignInError } from "../errors.ts";
import { isLoopbackUrl } from "../../reach/addresses.ts";
import { adviceOf } from "./metadata_origins.ts";
import type { ProtectedServer } from "./protected_server.ts";
import { assertInReach, ForbiddenAddressError } from "../../reach/reach.ts";

const MAX_USER_CODE_LENGTH = 24;

/**
 * Reads the address of a page for a person. A browser may open it at once, so it is one of the web, without a user name
 * that could pass for the host, and an MCP server on the internet cannot name a page of the own network.
 *
 * @throws {SignInError} when there is no such page.
 */
export async function readPage(
  text: string,
  { issuer, server, signal = new AbortController().signal }: {
    readonly issuer: string;
    readonly server: Pick<ProtectedServer, "reach" | "config">;
    readonly signal: AbortSignal | undefined;
  },
): Promise<URL> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOfTheWeb = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackUrl(url));
  if (url === undefined || !isOfTheWeb || url.username !== "" || url.password !== "") {
    throw new SignInError(`Cannot sign in: the authorization server ${issuer} has no page for that`);
  }
  if (server.config.issuer) return url;
  try {
    await assertInReach(url, server.reach, { namers: [server.reach.resource], signal });
  } catch (error) {
    if (!(error instanceof ForbiddenAddressError)) throw error;
    throw new SignInError(
      `Cannot sign in: the authorization server ${issuer} names a page of a private network, ${url.origin}; ` +
        adviceOf(issuer),
      { cause: error },
    );
  }
  return url;
}

const USER_CODE = /^[A-Za-z\d]+(?:[- ][A-Za-z\d]+){0,2}$/;

/**
 * Checks that a code is a short word or a few, and nothing that could pass for another text.
 *
 * @throws {SignInError} when it is not.
 */
export function assertUserCode(code: string, { issuer }: { readonly issuer: string }): void {
  if (code.length <= MAX_USER_CODE_LENGTH && USER_CODE.test(code)) return;
  throw new SignInError(`Cannot sign in: the code of the authorization server ${issuer} cannot be shown`);
}
