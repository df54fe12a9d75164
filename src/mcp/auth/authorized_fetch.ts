/** `fetch` for one MCP server: adds the token, and tries again once with a new one after a refusal. */
import { SignInRequiredError } from "../errors.ts";
import { readChallenge } from "./challenge.ts";
import { ProvenRequests } from "./dpop.ts";
import type { ServerAuthorization } from "./server_authorization.ts";

/** `fetch` with the client that holds the connections. */
export type HttpFetch = (
  url: string | URL,
  init: RequestInit & { client?: Deno.HttpClient },
) => Promise<Response>;

type SendWithToken = (
  ...request: [...Parameters<HttpFetch>, token: string | undefined]
) => Promise<Response>;

/**
 * Creates the `fetch` of one MCP server. The token goes to its origin alone.
 *
 * @param server The URL of the MCP server.
 */
export function createAuthorizedFetch(server: URL, authorization: ServerAuthorization): HttpFetch {
  const proven = new ProvenRequests();
  const send: SendWithToken = async (url, init, token) => {
    if (token === undefined) return await fetch(url, init);
    const key = await authorization.proofKeyOf(token);
    if (key !== undefined) return await proven.send(new URL(url), init, { token, key });
    return await fetch(url, withToken(init, token));
  };

  return async (url, init) => {
    if (new URL(url).origin !== server.origin) return await fetch(url, init);
    const signal = init.signal ?? undefined;
    const token = await authorization.token(signal);
    const response = await send(url, init, token);
    const refusal = refusalOf(response);
    if (refusal === undefined) return response;
    const other = await replaced(response, () => authorization.onRefused({ ...refusal, token }, signal));
    if (other === undefined) return response;
    const again = await send(url, init, other);
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

function refusalOf({ status, headers }: Response) {
  if (status !== 401 && status !== 403) return undefined;
  return { status, challenge: readChallenge(headers) } as const;
}

function withToken<T extends RequestInit>(init: T, token: string): T {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

/** Whether a failure of a request ends the session: one that lacks a permission does not. */
export function endsSession(error: unknown): error is SignInRequiredError {
  return error instanceof SignInRequiredError && error.missingScope === undefined;
}
