/** How a hub admits clients that have a token of its authorization server. */
import { AccessRefusal, type AccessRule } from "../http/mcp/access.ts";
import { readBearer } from "../http/tokens.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { SCOPES } from "./oauth_library.ts";

const ALL_SCOPES = SCOPES.join(" ");

/** Admits whoever has a token for the path that is asked for, and tells others where to get one. */
export function hubAccessRule(
  server: Pick<AuthorizationServer, "verify">,
  { publicUrl }: { readonly publicUrl: string },
): AccessRule {
  return {
    admit({ headers }, resource) {
      const token = readBearer(headers.get("authorization"));
      const access = token === undefined ? undefined : server.verify(token, resource);
      if (access === undefined) {
        return Promise.resolve(unauthorized(resource, { hasToken: token !== undefined }));
      }
      if (access.rights !== "read") return Promise.resolve(access);
      // The person has chosen to let it read alone, and may choose again.
      return Promise.resolve({ ...access, challenge: () => insufficient(resource, access.id) });
    },
    metadata: (resource) => ({
      resource,
      authorization_servers: [publicUrl],
      scopes_supported: SCOPES,
      bearer_methods_supported: ["header"],
    }),
  };
}

function unauthorized(resource: string, { hasToken }: { readonly hasToken: boolean }): AccessRefusal {
  return new AccessRefusal(401, {
    message: hasToken
      ? "Cannot serve this request: its token is not good for this path, or not any more"
      : "Cannot serve this request: it has no token; see resource_metadata of WWW-Authenticate",
    challenge: challengeOf(resource, hasToken ? { error: "invalid_token" } : {}),
    log: { reason: hasToken ? "wrong token" : "no token" },
  });
}

function insufficient(resource: string, grant: string): AccessRefusal {
  return new AccessRefusal(403, {
    message: "Cannot call this tool: the client may only read; ask the person for more",
    challenge: challengeOf(resource, { error: "insufficient_scope" }),
    log: { reason: "may only read", grant },
  });
}

function challengeOf(resource: string, error: Readonly<Record<string, string>>): string {
  const { origin, pathname } = new URL(resource);
  const resource_metadata = `${origin}/.well-known/oauth-protected-resource${pathname}`;
  const parameters = { ...error, scope: ALL_SCOPES, resource_metadata };
  return `Bearer ${Object.entries(parameters).map(([name, value]) => `${name}="${value}"`).join(", ")}`;
}
