/**
 * The OAuth library, `oidc-provider`, set up for a hub: public clients with PKCE, opaque tokens for one path each, and a consent for
 * every connection. Nothing else in the hub knows the library.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { SCOPES } from "../http/mcp/resource_server.ts";
import { isRecord } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { PackageMissingError } from "../own_imports.ts";
import { describeError, quoted } from "../text/text.ts";
import { type Adapter, createAdapter, type Stores } from "./artifacts.ts";
import { MAX_DOCUMENT_BYTES, readClientDocument } from "./client_documents.ts";
import { type Exchange, isOfConnection } from "./exchange.ts";
import type { HubKeys } from "./state_file.ts";

export const PATHS = {
  authorize: "/oauth/authorize",
  consent: "/oauth/consent",
  register: "/oauth/register",
  revoke: "/oauth/revoke",
  token: "/oauth/token",
} as const;

/** The address of a client, which the hub sets itself. */
export const ADDRESS_HEADER = "x-forwarded-for";

/** Whoever consents has proved it for this grant alone, so the library is told of one account. */
const ACCOUNT = "owner";
const ACCESS_SECONDS = 60 * 60;
const CODE_SECONDS = 60;
const REFRESH_SECONDS = 90 * 24 * 60 * 60;
/** A grant ends with its last token, or when somebody ends it. */
const GRANT_SECONDS = 20 * 365 * 24 * 60 * 60;
const CONSENT_SECONDS = 15 * 60;
/** Between two readings of a document, in seconds. */
const DOCUMENT_CACHE = { min: 60, max: 24 * 60 * 60 };

/** A client as the library has parsed it. */
export interface LibraryClient {
  readonly clientId: string;
  readonly clientName?: string;
  readonly redirectUris: readonly string[];
}

/** A request for authorization that waits for a person. */
export interface Interaction {
  readonly uid: string;
  readonly params: Readonly<Record<string, unknown>>;
  destroy(): Promise<void>;
}

/** The context of a request to the library. */
export interface LibraryContext {
  readonly req: IncomingMessage;
  readonly oidc?: {
    readonly client?: LibraryClient;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly entities?: { readonly Interaction?: { readonly result?: unknown } };
  };
  type: string;
  body: unknown;
  status: number;
  set(name: string, value: string): void;
}

interface ConsentContext {
  readonly oidc: {
    readonly provider: Pick<Library, "Grant">;
    readonly result?: { readonly consent?: { readonly grantId: string } };
  };
}

interface LibraryGrant {
  jti: string;
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}

/** What of the library the hub uses. */
interface Library {
  readonly Grant:
    & (new (of: { readonly accountId: string; readonly clientId: string }) => LibraryGrant)
    & { find(id: string): Promise<unknown> };
  readonly Client: { find(id: string): Promise<LibraryClient | undefined> };
  proxy: boolean;
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: unknown,
    options: { readonly mergeWithLastSubmission: boolean },
  ): Promise<void>;
  on(event: string, listener: (context: LibraryContext, error: Error) => void): void;
}

/** The errors of the library have a code of OAuth in `message`, and sometimes more. */
export interface OAuthFailure {
  readonly error: string;
  readonly description: string;
}

interface Refusal extends OAuthFailure {
  readonly client: string;
  readonly address: string;
  readonly request: string;
}

export interface LibraryOptions {
  /** An origin. */
  readonly publicUrl: string;
  readonly keys: HubKeys;
  readonly stores: Omit<Stores, "usedTwice">;
  readonly logger: Logger;
  /** The path of the hub that a client names, in the canonical spelling; `undefined` for what is none. */
  readonly resourceOf: (indicator: string) => string | undefined;
  /** The path for clients that name none. */
  readonly defaultResource: string;
  /** Whether a metadata document may be fetched for a client at this address. */
  readonly mayFetch: (address: string) => boolean;
  readonly fetchDocument: (url: URL) => Promise<Response>;
  /** Called when a request is refused. */
  readonly onRefused: (refusal: Refusal) => void;
  /** Writes the page of an error that cannot be sent to the client. */
  readonly errorPage: (context: LibraryContext, failure: OAuthFailure) => void;
}

export class OAuthLibrary {
  /** Answers a request for authorization, a token or a revocation. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly #library: Library;

  private constructor(library: Library) {
    this.#library = library;
    // The hub says itself by which address it is reached, see `AuthorizationServer`.
    library.proxy = true;
    this.answer = library.callback();
  }

  /** @throws {PackageMissingError} the library is not installed. */
  static async open(options: LibraryOptions): Promise<OAuthLibrary> {
    return await withoutNotices(async () => {
      const { Provider: Constructor, errors, interactionPolicy } = await loadLibrary();
      const usedTwice = () => new errors.InvalidGrant("used at the same moment");
      const policy = [consentPrompt(interactionPolicy)];
      const setup = configuration(options, { policy, usedTwice, InvalidTarget: errors.InvalidTarget });
      const library: Library = new Constructor(options.publicUrl, setup);
      listen(library, options);
      const opened = new OAuthLibrary(library);
      // Its first request prints that Deno has no agent of undici; this one is answered by the hub.
      await library.Client.find(WARM_UP).catch(() => {});
      return opened;
    });
  }

  /** The request that a person is asked about; `undefined` when it has ended, or is that of another browser. */
  async interaction(request: IncomingMessage, response: ServerResponse): Promise<Interaction | undefined> {
    try {
      return await this.#library.interactionDetails(request, response);
    } catch (error) {
      if (error instanceof Error && error.name === "SessionNotFound") return undefined;
      throw error;
    }
  }

  client(id: string): Promise<LibraryClient | undefined> {
    return this.#library.Client.find(id);
  }

  /** Sends the browser on with a code for this grant. */
  async allow(
    exchange: Exchange,
    grant: {
      readonly id: string;
      readonly clientId: string;
      readonly resource: string;
      readonly scope: string;
    },
  ): Promise<void> {
    const made = new this.#library.Grant({ accountId: ACCOUNT, clientId: grant.clientId });
    made.jti = grant.id;
    made.addResourceScope(grant.resource, grant.scope);
    await made.save();
    const result = { login: { accountId: ACCOUNT, remember: false }, consent: { grantId: grant.id } };
    await this.#finish(exchange, result);
  }

  /** Sends the browser on with an error of OAuth. */
  async refuse(exchange: Exchange, { error, description }: OAuthFailure): Promise<void> {
    await this.#finish(exchange, { error, error_description: description });
  }

  async #finish({ request, response }: Exchange, result: unknown): Promise<void> {
    await this.#library.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
}

/** The npm package of the SDK does not bring the library: it needs as many packages as all else, and a hub alone uses it. */
async function loadLibrary() {
  const name = "oidc-provider";
  try {
    return await import("oidc-provider");
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing || !cause.message.includes(`'${name}'`)) throw cause;
    throw new PackageMissingError("Cannot let MCP clients sign in", { registry: "npm", name, cause });
  }
}

/** A document that nobody asks for. */
const WARM_UP = "https://warm-up.invalid/client";
/** The library wants a key for tokens of OpenID Connect, although nobody is given one. */
const SIGNING = "ES256";
const SIGNED = { id_token_signed_response_alg: SIGNING };

interface RenderedError {
  readonly error: string;
  readonly error_description?: string;
}

function configuration(
  options: LibraryOptions,
  { policy, usedTwice, InvalidTarget }: {
    readonly policy: readonly unknown[];
    readonly usedTwice: () => Error;
    readonly InvalidTarget: new () => Error;
  },
) {
  const { keys, publicUrl, stores, resourceOf, defaultResource, errorPage } = options;
  const cookie = { httpOnly: true, sameSite: "lax", secure: publicUrl.startsWith("https:") } as const;
  return {
    allowOmittingSingleRegisteredRedirectUri: false,
    adapter: (kind: string): Adapter => createAdapter(kind, { ...stores, usedTwice }),
    clientAuthMethods: ["none"],
    clientBasedCORS: (_context: unknown, origin: string, { redirectUris }: LibraryClient) =>
      redirectUris.some((uri) => URL.parse(uri)?.origin === origin),
    clientDefaults: { application_type: "native", token_endpoint_auth_method: "none", ...SIGNED },
    cookies: {
      keys: [keys.cookies],
      names: { session: "a2c_session", interaction: "a2c_consent", resume: "a2c_resume" },
      long: cookie,
      short: cookie,
    },
    expiresWithSession: () => Promise.resolve(false),
    features: {
      clientIdMetadataDocument: {
        enabled: true,
        ack: "draft-02",
        allowFetch: (context: LibraryContext | undefined) =>
          Promise.resolve(
            context === undefined || options.mayFetch(String(context.req.headers[ADDRESS_HEADER])),
          ),
        cacheDuration: DOCUMENT_CACHE,
      },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: unknown, _client: unknown, oneOf: unknown) =>
          Promise.resolve(oneOf ?? defaultResource),
        useGrantedResource: () => Promise.resolve(true),
        getResourceServerInfo(_context: unknown, indicator: string) {
          const audience = resourceOf(indicator);
          if (audience === undefined) throw new InvalidTarget();
          return { audience, scope: SCOPES.join(" "), accessTokenFormat: "opaque" };
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_context: unknown, client: LibraryClient, token: Pick<LibraryClient, "clientId">) =>
          Promise.resolve(token.clientId === client.clientId),
      },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    fetch: (url: string) =>
      url === WARM_UP
        ? Promise.resolve(new Response(null, { status: 404 }))
        : readClientDocument(url, { fetchDocument: options.fetchDocument, clients: stores.clients }),
    fetchResponseBodyLimits: { "client_id metadata document": MAX_DOCUMENT_BYTES },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId }),
    }),
    interactions: {
      policy,
      url: (_context: unknown, { uid }: Interaction) => `${PATHS.consent}/${uid}`,
    },
    issueRefreshToken: () => Promise.resolve(true),
    jwks: { keys: [{ ...keys.signing, alg: SIGNING, use: "sig" }] },
    // A consent counts once: the browser that gave it has no rights of its own afterwards.
    loadExistingGrant({ oidc: { result, provider } }: ConsentContext) {
      const id = result?.consent?.grantId;
      return id === undefined ? Promise.resolve(undefined) : provider.Grant.find(id);
    },
    pkce: { required: () => true },
    renderError(context: LibraryContext, { error, error_description: description = "" }: RenderedError) {
      errorPage(context, { error, description });
    },
    responseTypes: ["code"],
    rotateRefreshToken: true,
    routes: { authorization: PATHS.authorize, token: PATHS.token, revocation: PATHS.revoke },
    scopes: [],
    ttl: {
      AccessToken: ACCESS_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      IdToken: CODE_SECONDS,
      Interaction: CONSENT_SECONDS,
      RefreshToken: REFRESH_SECONDS,
      Session: CONSENT_SECONDS,
    },
  };
}

/** Asks a person for every connection, whatever the browser has been used for before. */
function consentPrompt(
  { Prompt, Check }: {
    readonly Prompt: new (
      of: { readonly name: string; readonly requestable: boolean },
      check: unknown,
    ) => unknown;
    readonly Check: new (
      reason: string,
      description: string,
      error: string,
      check: (context: ConsentContext) => boolean,
    ) => unknown;
  },
): unknown {
  const isMissing = ({ oidc }: ConsentContext) => oidc.result?.consent === undefined;
  const check = new Check("no_consent", "a person has to consent", "consent_required", isMissing);
  return new Prompt({ name: "consent", requestable: true }, check);
}

const REFUSALS = ["authorization.error", "grant.error", "revocation.error"] as const;

function listen(library: Library, { onRefused, logger }: LibraryOptions): void {
  for (const event of REFUSALS) {
    library.on(event, ({ oidc, req }, failure) => {
      const asked = oidc?.params?.["client_id"] ??
        URL.parse(req.url ?? "", "http://hub")?.searchParams.get("client_id");
      onRefused({
        ...toOAuthFailure(failure),
        client: oidc?.client?.clientId ?? quoted(String(asked ?? "")),
        address: String(req.headers[ADDRESS_HEADER]),
        request: event.slice(0, -".error".length),
      });
    });
  }
  library.on("grant.error", sayWhatToDo);
  const fail = (error: unknown) => {
    if (isOfConnection(error)) return;
    logger.error("the authorization server failed", { error: describeError(error) });
  };
  library.on("server_error", (_context, error) => fail(error));
  library.on("error", (context) => fail(context));
  for (const event of ["authorization.error", "server_error"]) library.on(event, stayAtHub);
}

/**
 * Has an error that comes before a person's decision shown on a page of the hub. Anybody registers any redirect, so that a link to
 * the hub would lead a browser anywhere (RFC 9700, section 4.11.2). The library looks at `allow_redirect` after its events.
 */
function stayAtHub({ oidc }: LibraryContext, failure: Error): void {
  if (oidc?.entities?.Interaction?.result === undefined) Object.assign(failure, { allow_redirect: false });
}

/** Clients show the description to their users. It is the same whatever is wrong, so that nobody learns which tokens there were. */
function sayWhatToDo({ body }: LibraryContext): void {
  if (isRecord(body) && body["error"] === "invalid_grant") {
    body["error_description"] =
      "access was taken back or has expired, or this code or token was used before or is another client's: sign in again";
  }
}

function toOAuthFailure(failure: Error): OAuthFailure {
  const told = "error_description" in failure ? failure.error_description : undefined;
  const detail = "error_detail" in failure ? failure.error_detail : undefined;
  const description = [told, detail].filter((each) => typeof each === "string").join(": ");
  return { error: failure.message, description };
}

/** Runs something without the lines that the library prints about Deno, and about settings of which the hub has its own. */
async function withoutNotices<T>(run: () => Promise<T>): Promise<T> {
  const { warn, info } = console;
  const filtered = (write: typeof warn) => (...values: unknown[]) => {
    if (!/oidc-provider (?:WARNING|NOTICE):/.test(String(values[0]))) write(...values);
  };
  console.warn = filtered(warn);
  console.info = filtered(info);
  try {
    return await run();
  } finally {
    console.warn = warn;
    console.info = info;
  }
}
