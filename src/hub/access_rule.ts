/** What the tokens of a hub's own authorization server allow. */
import type { TokenVerifier } from "../http/mcp/resource_server.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { SCOPES } from "./oauth_library.ts";

/** Verifies the tokens of grants. */
export function hubTokens(
  server: Pick<AuthorizationServer, "verify">,
  { publicUrl }: { readonly publicUrl: string },
): TokenVerifier {
  return {
    issuer: publicUrl,
    scopes: SCOPES,
    verify(token, resource) {
      const access = server.verify(token, resource);
      return Promise.resolve(
        access === undefined
          ? {
            refused: "the token is not good for this path, or not any more",
            log: { detail: "wrong token" },
          }
          // The person has chosen to let it read alone, and may choose again.
          : { access, mayGrow: access.rights === "read" },
      );
    },
  };
}
