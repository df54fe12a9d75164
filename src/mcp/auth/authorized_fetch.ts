/** `fetch` for one MCP server: adds the token, and tries again once with a new one after a refusal. */
import * as oauth from "oauth4webapi";
import { SignInRequiredError } from "../errors.ts";
import { type Challenge, toChallenge } from "./challenge.ts";
import { proverOf } from "./dpop.ts";
import type { ServerAuthorization } from "./server_authorization.ts";
import type { ProofKey } from "./token_store.ts";

/** A longer header about authorization, in characters, is not read. */
const MAX_CHALLENGE_LENGTH = 8_192;

/** `fetch` with the client that holds the connections. */
export type HttpFetch = (
  url: string | URL,
  init: RequestInit & { client?: Deno.HttpClient },
) => Promise<Response>;

interface Sent {
  readonly response: Response;
  readonly challenge: Challenge | undefined;
  /** Whether the server wants its nonce in the proof of the token. */
  readonly lacksNonce: boolean;
}

/** Sends a request with a token, if there is one, and reads what a refusal says. */
export async function sendAuthorized(
  url: URL,
  init: RequestInit & { client?: Deno.HttpClient },
  { token, prover }: { readonly token?: string | undefined; readonly prover?: oauth.DPoPHandle | undefined },
): Promise<Sent> {
  try {
    const given = new Headers(init.headers);
    const response = await oauth.protectedResourceRequest(
      token ?? "none",
      init.method ?? "GET",
      url,
      given,
      null,
      {
        ...(prover === undefined ? {} : { DPoP: prover }),
        [oauth.allowInsecureRequests]: true,
        // The library adds headers; the rest of the request is ours.
        [oauth.customFetch]: async (_url, { headers }) =>
          withShortChallenge(await fetch(url, token === undefined ? init : { ...init, headers })),
      },
    );
    return { response, challenge: undefined, lacksNonce: false };
  } catch (error) {
    // What a refusal means is decided elsewhere.
    if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
    const { response, cause } = error;
    return { response, challenge: toChallenge(cause), lacksNonce: oauth.isDPoPNonceError(error) };
  }
}

function withShortChallenge(response: Response): Response {
  const { length = 0 } = response.headers.get("www-authenticate") ?? "";
  if (length <= MAX_CHALLENGE_LENGTH) return response;
  const { body, status, headers: given } = response;
  const headers = new Headers(given);
  headers.delete("www-authenticate");
  return new Response(body, { status, headers });
}

/**
 * Creates the `fetch` of one MCP server. The token goes to its origin alone.
 *
 * @param server The URL of the MCP server.
 */
export function createAuthorizedFetch(server: URL, authorization: ServerAuthorization): HttpFetch {
  let last: { readonly key: ProofKey; readonly prover: Promise<oauth.DPoPHandle> } | undefined;
  const proverFor = (key: ProofKey) => {
    if (last?.key.d !== key.d) last = { key, prover: proverOf(key, { clockSkewSeconds: 0 }) };
    return last.prover;
  };
  const send = async (url: URL, init: RequestInit, token: string | undefined): Promise<Sent> => {
    const key = token === undefined ? undefined : await authorization.proofKeyOf(token);
    const prover = key && await proverFor(key);
    const first = await sendAuthorized(url, init, { token, prover });
    if (!first.lacksNonce || prover === undefined) return first;
    await first.response.body?.cancel();
    return await sendAuthorized(url, init, { token, prover });
  };

  return async (to, init) => {
    const url = new URL(to);
    if (url.origin !== server.origin) return await fetch(url, init);
    const signal = init.signal ?? undefined;
    const token = await authorization.token(signal);
    const { response, challenge } = await send(url, init, token);
    const { status } = response;
    if (status !== 401 && status !== 403) return response;
    const refusal = { status, challenge, token } as const;
    const other = await replaced(response, () => authorization.onRefused(refusal, signal));
    if (other === undefined) return response;
    const { response: again } = await send(url, init, other);
    if (again.status !== 401) return again;
    await again.body?.cancel();
    throw authorization.onRefusedAgain(other);
  };
}

/** Asks for another token, and drops the response when it is not the answer. */
async function replaced(
  response: Response,
  ask: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    const token = await ask();
    if (token !== undefined) await response.body?.cancel();
    return token;
  } catch (error) {
    await response.body?.cancel();
    throw error;
  }
}

/** Whether a failure of a request ends the session: one that lacks a permission does not. */
export function endsSession(error: unknown): error is SignInRequiredError {
  return error instanceof SignInRequiredError && error.missingScope === undefined;
}
