/** Which MCP clients a hub admits: by tokens of a file, of an identity provider, and of its own authorization server. */
import { hubTokens } from "../../hub/access_rule.ts";
import { AuthorizationServer } from "../../hub/authorization_server.ts";
import type { HubResource, Operator } from "../../hub/consents.ts";
import { StateFileError } from "../../hub/state_file.ts";
import { buildPath, parsePath } from "../../gateway/http/paths.ts";
import { type AccessRule, firstRule } from "../../http/mcp/access.ts";
import type { JwtAccess } from "../../http/mcp/jwt_access.ts";
import { protectResource, type TokenVerifier } from "../../http/mcp/resource_server.ts";
import type { Logger } from "../../log.ts";
import { UsageError } from "../outcome.ts";
import { McpTokenFile } from "./mcp_tokens.ts";
import type { HubOptions } from "./options.ts";
import { openResourceServer } from "../resource_server.ts";
import { hubStateFile } from "./state.ts";

export interface AccessParts {
  /** The origin by which clients reach the hub. */
  readonly publicUrl: string;
  readonly computersOf: (office: string) => Promise<readonly string[]>;
}

/** The files of tokens, and the way to the authorization server. */
export class HubAccess implements AsyncDisposable {
  readonly #stateFile: string | undefined;
  readonly #clients: McpTokenFile | undefined;
  readonly #operators: McpTokenFile | undefined;
  readonly #identity: JwtAccess | undefined;
  readonly #log: Logger;
  readonly #opened: AsyncDisposableStack;
  #server: AuthorizationServer | undefined;

  private constructor(
    { stateFile, clients, operators, identity, logger, opened }: {
      readonly stateFile: string | undefined;
      readonly clients: McpTokenFile | undefined;
      readonly operators: McpTokenFile | undefined;
      readonly identity: JwtAccess | undefined;
      readonly logger: Logger;
      readonly opened: AsyncDisposableStack;
    },
  ) {
    this.#stateFile = stateFile;
    this.#clients = clients;
    this.#operators = operators;
    this.#identity = identity;
    this.#log = logger;
    this.#opened = opened;
  }

  /** @throws {UsageError} when no client could be admitted, or a file cannot be used. */
  static async open(options: HubOptions, logger: Logger): Promise<HubAccess> {
    await using opening = new AsyncDisposableStack();
    const open = async (path: string | undefined) =>
      path === undefined ? undefined : opening.use(await McpTokenFile.open(path, logger));
    const [clients, operators] = [await open(options.mcpTokenFile), await open(options.operatorTokenFile)];
    const identity = await openResourceServer(options, logger);
    if (identity !== undefined) opening.use(identity);
    // Where people sign in at an identity provider, the hub has no sign-in of its own unless it is asked for.
    const path = identity !== undefined && options.stateFile === undefined
      ? undefined
      : hubStateFile(options);
    if (path === undefined && clients === undefined && identity === undefined) {
      throw new UsageError(
        "Cannot start the hub: no MCP client could use it; give --state-file FILE, for grants, or --mcp-token-file FILE",
      );
    }
    return new HubAccess({ stateFile: path, clients, operators, identity, logger, opened: opening.move() });
  }

  /** The authorization server; `undefined` when its state cannot be kept. */
  get server(): AuthorizationServer | undefined {
    return this.#server;
  }

  /** Opens the authorization server, and resolves to the rule for all clients. */
  async begin({ publicUrl, computersOf }: AccessParts): Promise<AccessRule> {
    const rules: AccessRule[] = this.#clients === undefined ? [] : [this.#clients];
    const verifiers: TokenVerifier[] = this.#identity === undefined ? [] : [this.#identity];
    if (this.#stateFile === undefined) {
      if (this.#identity === undefined) {
        this.#log.info("clients cannot sign in: there is no file for their grants; give --state-file");
      }
    } else {
      const operators = this.#operators;
      const operator = operators && ((token: string) => Promise.resolve(operatorOf(operators, token)));
      const parts = { stateFile: this.#stateFile, publicUrl, computersOf, operator, logger: this.#log };
      this.#server = this.#opened.use(await openServer(parts));
      verifiers.push(hubTokens(this.#server, { publicUrl }));
    }
    const [verifier, ...more] = verifiers;
    if (verifier !== undefined) rules.push(protectResource([verifier, ...more]));
    const [first, ...others] = rules;
    if (first === undefined) throw new UsageError("Cannot start the hub: no MCP client could use it");
    return firstRule([first, ...others]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

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

function operatorOf(tokens: McpTokenFile, token: string): Operator | undefined {
  const found = tokens.find(token);
  return found && { name: found.name, offices: found.offices };
}
