/**
 * Enterprise-managed authorization: the identity provider of an enterprise exchanges a person's ID token for an
 * authorization at the authorization server of an MCP server (ID-JAG,
 * draft-ietf-oauth-identity-assertion-authz-grant, by the token exchange of RFC 8693).
 */
import * as oauth from "oauth4webapi";
import type { IdentityProviderSettings } from "../../protocol/config.ts";
import { SignInError } from "../errors.ts";
import { authenticationOf } from "./client.ts";
import { discoverAuthorizationServer, issuerUrl } from "./discovery.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";
import { requestOptions, toOAuthFailure } from "./oauth_requests.ts";
import type { OAuthClient } from "./token_store.ts";

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
/** The answer says that its token is no access token: its type is not applicable. */
const recognizedTokenTypes: oauth.RecognizedTokenTypes = { n_a: () => {} };

/** What an authorization is for. */
export interface AssertionTarget {
  /** The issuer of the authorization server that gets it. */
  readonly issuer: string;
  /** The resource indicator of the MCP server. */
  readonly resource: string | undefined;
  readonly scopes: readonly string[];
}

/**
 * Exchanges an ID token for an authorization at an MCP server. The ID token goes to the configured identity provider
 * alone, whose address, unlike that of an authorization server, the MCP server does not choose.
 *
 * @throws {SignInError} when the identity provider refuses it.
 * @throws {ServerNotRunningError} when it does not answer.
 */
export async function exchangeIdToken(
  provider: IdentityProviderSettings,
  idToken: string,
  target: AssertionTarget,
): Promise<string> {
  const server = issuerUrl(provider.issuer);
  const fetch = createOAuthFetch({ resource: server, issuer: undefined });
  const signal = undefined;
  const as = await discoverAuthorizationServer(provider.issuer, {
    server,
    fetch,
    signal,
    hasDefaultEndpoints: false,
  });
  const configured: OAuthClient = { clientId: provider.clientId, source: "configured" };
  const { clientSecret = null } = provider;
  try {
    const client = { client_id: provider.clientId };
    const response = await oauth.genericTokenEndpointRequest(
      as.metadata,
      client,
      await authenticationOf(configured, { as, config: { clientSecret } }),
      TOKEN_EXCHANGE,
      parametersOf(idToken, target),
      requestOptions({ as, fetch, signal }),
    );
    const answer = await oauth.processGenericTokenEndpointResponse(as.metadata, client, response, {
      recognizedTokenTypes,
    });
    if (answer["issued_token_type"] === ID_JAG) return answer.access_token;
  } catch (error) {
    throw await toOAuthFailure(
      error,
      `Cannot exchange the ID token at the identity provider ${as.metadata.issuer}`,
    );
  }
  throw new SignInError(
    `Cannot use the answer of the identity provider ${as.metadata.issuer}: it is no authorization for another server ` +
      "(ID-JAG); check that it offers enterprise-managed authorization",
  );
}

function parametersOf(idToken: string, { issuer, resource, scopes }: AssertionTarget): URLSearchParams {
  return new URLSearchParams({
    requested_token_type: ID_JAG,
    subject_token: idToken,
    subject_token_type: ID_TOKEN,
    audience: issuer,
    ...(resource === undefined ? {} : { resource }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
  });
}
