/** The client that an authorization server knows this Computer as: configured, named by a document, or registered. */
import * as oauth from "oauth4webapi";
import type { OAuthSettings } from "../../protocol/config.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { isRecord } from "../../json/json.ts";
import { SignInError } from "../errors.ts";
import { isSameIssuer } from "./discovery.ts";
import { adviceOf } from "./metadata_origins.ts";
import { importPrivateKey } from "./private_key.ts";
import { requestOptions, toOAuthFailure } from "./oauth_requests.ts";
import type { AuthorizationServer } from "./discovery.ts";
import type { OAuthFetch } from "./oauth_fetch.ts";
import type { OAuthClient, StoredSignIn } from "./token_store.ts";

/** What a person reads when an authorization server asks whether this client may have access. */
const CLIENT_NAME = "A2C-SMCP Computer";
/** The last time that there is a date for, in milliseconds since 1970. */
const MAX_TIME_MS = 8.64e15;

export interface ClientContext {
  readonly as: AuthorizationServer;
  readonly config: OAuthSettings;
  readonly fetch: OAuthFetch;
  readonly signal: AbortSignal | undefined;
}

/**
 * Chooses a client for a sign-in: a configured one, else the one of the metadata document, else a new registration.
 *
 * @throws {SignInError} when there is none.
 */
export async function chooseClient(
  context: ClientContext,
  { redirectUri, grantTypes }: { readonly redirectUri?: string; readonly grantTypes: readonly string[] },
): Promise<OAuthClient> {
  const { as: { metadata }, config } = context;
  if (config.clientId) return { clientId: config.clientId, source: "configured" };
  const document = metadata.client_id_metadata_document_supported === true && config.clientMetadataUrl;
  // All authorization servers share the redirect of the document: answers must say who they are from.
  const isTold = config.issuer || redirectUri === undefined ||
    metadata.authorization_response_iss_parameter_supported === true;
  if (document && isTold) return { clientId: documentUrl(document), authMethod: "none", source: "document" };
  if (metadata.registration_endpoint !== undefined) {
    return await registerClient(context, { redirectUri, grantTypes });
  }
  if (document) {
    const why = `the answers of ${metadata.issuer} do not say who they are from`;
    throw new SignInError(`Cannot sign in with "clientMetadataUrl": ${why}; ${adviceOf(metadata.issuer)}`);
  }
  throw new SignInError(
    `Cannot sign in: the authorization server ${metadata.issuer} registers no clients by itself; register one there ` +
      'and set its id as "clientId" in the "oauth" of the server',
  );
}

function documentUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.pathname !== "/") return text;
  throw new SignInError('Cannot sign in: "clientMetadataUrl" must be an https URL with a path');
}

/** Dynamic registration (RFC 7591). */
async function registerClient(
  { as, fetch, signal }: ClientContext,
  { redirectUri, grantTypes }: {
    readonly redirectUri: string | undefined;
    readonly grantTypes: readonly string[];
  },
): Promise<OAuthClient> {
  const { metadata } = as;
  const authMethod = registeredMethod(metadata);
  try {
    const response = await oauth.dynamicClientRegistrationRequest(metadata, {
      client_name: CLIENT_NAME,
      software_id: "a2c-smcp",
      software_version: PACKAGE_VERSION,
      application_type: "native",
      token_endpoint_auth_method: authMethod,
      grant_types: [...grantTypes],
      // Without `response_types` it would be "code", for which an authorization server wants `redirect_uris`.
      ...(redirectUri === undefined
        ? { response_types: [] }
        : { redirect_uris: [redirectUri], response_types: ["code"] }),
    }, requestOptions({ as, fetch, signal }));
    const registered = await readRegistration(response);
    return {
      authMethod,
      ...registered,
      ...(redirectUri === undefined ? {} : { redirectUri }),
      source: "registered",
    };
  } catch (error) {
    throw await toOAuthFailure(error, `Cannot register at the authorization server ${metadata.issuer}`);
  }
}

/** Many servers answer 200, or leave out members that the library wants. */
async function readRegistration(
  response: Response,
): Promise<Pick<OAuthClient, "clientId" | "clientSecret" | "secretExpiresAtMs" | "authMethod">> {
  const { status } = response;
  if (status !== 200 && status !== 201) {
    await oauth.processDynamicClientRegistrationResponse(response);
  }
  const body: unknown = await response.json();
  const {
    client_id: clientId,
    client_secret: secret,
    client_secret_expires_at: end,
    token_endpoint_auth_method,
  } = isRecord(body) ? body : {};
  if (typeof clientId !== "string" || clientId === "") {
    throw new SignInError("Cannot read the registration: it has no client_id");
  }
  return {
    clientId,
    ...(typeof secret === "string" ? { clientSecret: secret } : {}),
    ...(typeof end === "number" && end > 0 ? { secretExpiresAtMs: Math.min(end * 1_000, MAX_TIME_MS) } : {}),
    ...(typeof token_endpoint_auth_method === "string" ? { authMethod: token_endpoint_auth_method } : {}),
  };
}

/** A public client where that is possible: a secret on this machine proves nothing. */
function registeredMethod(
  { token_endpoint_auth_methods_supported: supported }: oauth.AuthorizationServer,
): string {
  const methods = ["none", "client_secret_basic", "client_secret_post"];
  return methods.find((method) => supported?.includes(method)) ?? "none";
}

/**
 * Returns how a client authenticates.
 *
 * @throws {ConfigurationError} when the private key cannot be read.
 */
export async function authenticationOf(
  client: OAuthClient,
  { as: { metadata }, config }: Pick<ClientContext, "as" | "config">,
): Promise<oauth.ClientAuth> {
  const supported = metadata.token_endpoint_auth_methods_supported;
  if (client.source === "configured" && config.privateKey) {
    const { privateKey } = config;
    return oauth.PrivateKeyJwt(await importPrivateKey({ ...config, privateKey }, metadata));
  }
  const secret = client.source === "configured" ? config.clientSecret : client.clientSecret;
  if (!secret || client.authMethod === "none") return oauth.None();
  const isPost = client.authMethod === undefined
    ? supported?.includes("client_secret_basic") === false && supported.includes("client_secret_post")
    : client.authMethod === "client_secret_post";
  return isPost ? oauth.ClientSecretPost(secret) : clientSecretBasic(secret);
}

/**
 * `client_secret_basic`, with no more percent-encoding than RFC 6749 (section 2.3.1) asks for. The library also encodes
 * `-`, `_` and `.`, which servers that do not decode the id and the secret then refuse.
 */
function clientSecretBasic(secret: string): oauth.ClientAuth {
  return (_server, client, _body, headers) => {
    const credentials = [client.client_id, secret].map(encodeFormText).join(":");
    headers.set("authorization", `Basic ${new TextEncoder().encode(credentials).toBase64()}`);
  };
}

function encodeFormText(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/**
 * A configured client belongs to one issuer: its id and secret go to no other, whatever the MCP server says.
 *
 * @param known The sign-ins of the MCP server so far.
 * @throws {SignInError} when it belongs to another one.
 */
export function assertOwnIssuer(
  issuer: string,
  { config, known }: { readonly config: OAuthSettings; readonly known: readonly StoredSignIn[] },
): void {
  if (config.issuer && !isSameIssuer(config.issuer, issuer)) {
    throw new SignInError(
      `Cannot sign in: the MCP server names the authorization server ${issuer}, and only ${config.issuer} is configured`,
    );
  }
  if (config.issuer || !config.clientId) return;
  const first = known.find(({ client }) =>
    client.source === "configured" && client.clientId === config.clientId
  );
  if (first === undefined || isSameIssuer(first.issuer, issuer)) return;
  throw new SignInError(
    `Cannot sign in: client "${config.clientId}" belongs to the authorization server ${first.issuer}, and the MCP ` +
      `server now names ${issuer}; if that is right, set it as "issuer" in the "oauth" of the server`,
  );
}

/** Whether a client can be used without registering again. */
export function isUsable(client: OAuthClient, config: OAuthSettings, nowMs: number): boolean {
  if (client.source === "configured") return client.clientId === config.clientId;
  if (config.clientId) return false;
  return client.secretExpiresAtMs === undefined || client.secretExpiresAtMs > nowMs;
}
