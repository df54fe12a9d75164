/** Which MCP clients a hub admits: by tokens of a file, of an identity provider, and of its own authorization server. */
import { AuthorizationServer } from "../../hub/authorization_server.ts";
import type { HubResource, Operator } from "../../hub/consents.ts";
import type { GrantEndListener } from "../../hub/grants_in_use.ts";
import { StateFileError } from "../../hub/state_file.ts";
import { buildPath, parsePath } from "../../gateway/http/paths.ts";
import { type AccessRule, firstRule } from "../../http/mcp/access.ts";
import type { JwtAccess } from "../../http/mcp/jwt_access.ts";
import { protectResource } from "../../http/mcp/resource_server.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import type { TokenValue } from "../../api_values.ts";
import { acceptedBy, TokenFile } from "../../server/admission/tokens.ts";
import { UsageError } from "../outcome.ts";
import {
  type ClaimTokens,
  type ShownTokens,
  toShownTokens,
  toUsageError,
  warnOfOpenFile,
} from "../server/credentials.ts";
import { CLIENT_TOKENS, findAccepted, namingOwners, ruleOf, type TokenOwners } from "./mcp_tokens.ts";
import { type HubOptions, hubStateFile } from "./options.ts";
import { openResourceServer } from "../resource_server.ts";

export interface AccessParts {
  /** The origin by which clients reach the hub. */
  readonly publicUrl: string;
  readonly computersOf: (office: string) => Promise<readonly string[] | undefined>;
  readonly onGrantEnd: GrantEndListener;
}

/** The files of tokens, and the way to the authorization server. */
export interface HubAccess extends AsyncDisposable {
  /** The authorization server, once it is open; `undefined` when its state cannot be kept. */
  readonly server: AuthorizationServer | undefined;
  /** Who has a token of an operator, once it is open; `undefined` where nobody can have one. */
  readonly operator: ((token: string) => Promise<Operator | undefined>) | undefined;
  /** The tokens of the files, by name. */
  readonly tokens: readonly ShownTokens[];
  /** Opens the authorization server, and resolves to the rule for all clients. */
  begin(parts: AccessParts): Promise<AccessRule>;
}

/** @throws {UsageError} when no client could be admitted, or a file cannot be used. */
export async function openHubAccess(
  options: HubOptions,
  { logger, claim, owners }: {
    readonly logger: Logger;
    readonly claim: ClaimTokens;
    readonly owners: Pick<TokenOwners, "optionOf">;
  },
): Promise<HubAccess> {
  await using opening = new AsyncDisposableStack();
  const open = async (option: string, path: string | undefined, kind: "client" | "operator") => {
    if (path === undefined) return undefined;
    const check = (tokens: Parameters<ClaimTokens>[1]) => claim(option, tokens);
    await warnOfOpenFile(option, path, logger);
    const opened = TokenFile.open(path, { kind, check, logger });
    return opening.use(await opened.catch(async (error) => Promise.reject(await toUsageError(error))));
  };
  const clients = await open(CLIENT_TOKENS, options.mcpTokenFile, "client");
  const operators = await open("--operator-token-file", options.operatorTokenFile, "operator");
  const identity = await openResourceServer(options, logger);
  if (identity !== undefined) opening.use(identity);
  // Where people sign in at an identity provider, the hub has no sign-in of its own unless it is asked for.
  const stateFile = identity !== undefined && options.stateFile === undefined
    ? undefined
    : hubStateFile(options);
  if (stateFile === undefined && clients === undefined && identity === undefined) {
    throw new UsageError(NOBODY);
  }
  if (stateFile === undefined && options.oauthOperatorClaim !== undefined) {
    throw new UsageError(
      "Cannot use --oauth-operator-claim: nobody consents at this hub; give --state-file FILE, for grants",
    );
  }
  if (stateFile === undefined && identity === undefined) {
    logger.info("clients cannot sign in: there is no file for their grants; give --state-file");
  }
  const opened = opening.move();
  let server: AuthorizationServer | undefined;
  let operator: HubAccess["operator"];
  const namesOf = (file: TokenFile | undefined, kind: TokenValue["kind"]) =>
    file === undefined ? [] : [toShownTokens(acceptedBy(file), kind)];
  return {
    get operator() {
      return operator;
    },
    get tokens() {
      return [...namesOf(clients, "client"), ...namesOf(operators, "operator")];
    },
    get server() {
      return server;
    },
    async begin(parts) {
      const people = options.oauthOperatorClaim === undefined ? undefined : identity;
      const isSignInPossible = operators !== undefined || people !== undefined;
      operator = isSignInPossible
        ? async (token: string) =>
          operatorOf(operators, token) ?? await personOf(people, { token, logger, ...parts })
        : undefined;
      server = stateFile === undefined
        ? undefined
        : opened.use(await openServer({ ...parts, stateFile, operator, logger }));
      const [verifier, ...others] = [identity, server?.tokens].filter((each) => each !== undefined);
      const oauth = verifier && protectResource([verifier, ...others]);
      const [rule, ...more] = [clients && ruleOf(clients), oauth].filter((each) => each !== undefined);
      if (rule === undefined) throw new UsageError(NOBODY);
      return namingOwners(firstRule([rule, ...more]), owners);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const NOBODY =
  "Cannot start the hub: no MCP client could use it; give --state-file FILE, for grants, or --mcp-token-file FILE";

async function openServer(
  options: Omit<Parameters<typeof AuthorizationServer.open>[0], "resourceOf">,
): Promise<AuthorizationServer> {
  try {
    const { publicUrl } = options;
    return await AuthorizationServer.open({
      ...options,
      resourceOf: (url) => url.origin === publicUrl ? resourceOf(url, publicUrl) : undefined,
    });
  } catch (error) {
    if (error instanceof StateFileError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function resourceOf({ pathname }: URL, publicUrl: string): HubResource | undefined {
  const place = parsePath(pathname.replace(/\/$/, ""));
  if (place === undefined) return undefined;
  const { office, scope } = place;
  const computers = scope.kind === "computer" ? [scope.computer] : undefined;
  return { url: `${publicUrl}${buildPath(place)}`, office, computers };
}

function operatorOf(tokens: TokenFile | undefined, token: string): Operator | undefined {
  const found = tokens && findAccepted(tokens, token);
  if (found === undefined || typeof found === "string") return undefined;
  const { principal, grant } = found.admission;
  return { name: principal, offices: grant?.offices ?? "all" };
}

/** Somebody with a token of the identity provider for the hub itself. */
async function personOf(
  identity: JwtAccess | undefined,
  { token, publicUrl, logger }: {
    readonly token: string;
    readonly publicUrl: string;
    readonly logger: Logger;
  },
): Promise<Operator | undefined> {
  try {
    return await identity?.operator(token, publicUrl);
  } catch (error) {
    logger.warn("the token of an operator cannot be verified now", { error: describeError(error) });
    return undefined;
  }
}
