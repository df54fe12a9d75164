/** Authentication of clients by a set of tokens: from the program, or from a file that is read again when it changes. */
import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { digestOf } from "../../http/tokens.ts";
import { type Logger, silentLogger } from "../../log.ts";
import {
  type Admission,
  type AuthDecision,
  type AuthProvider,
  createTokenReader,
  type Credentials,
  CredentialsEndedError,
  ExpiryMovedError,
  type TokenPlace,
} from "./provider.ts";
import { HASH_PREFIX, type ListedToken, listTokens, parseTokenList, type StaticToken } from "./token_list.ts";
import { contentProblem, FileContentError, WatchedFiles } from "../../files/watched_files.ts";
import { CONSTANTS } from "../options/constants.ts";

/** The place of a token that is not in the file. */
const BESIDE_FILE = "a token given beside the token file (A2C_TOKEN or --token)";

/** The tokens that a provider of this module accepts now, in their order; none of another provider. For programs of this package. */
export let acceptedBy: (provider: AuthProvider) => AcceptedTokens;
/** What a token of a file is accepted for; `undefined` for a wrong one. For programs of this package. */
export let findToken: (file: TokenFile, token: string) => AcceptedToken | undefined;

/** The options of {@linkcode staticTokens}. */
export interface StaticTokensOptions extends TokenPlace {
  /** The accepted tokens; at least one, none empty. A text is a token that allows everything. */
  readonly tokens: readonly (string | StaticToken)[];
}

/**
 * Admits clients with one of a fixed set of tokens. The time of a refusal does not depend on the accepted tokens.
 *
 * @param options The tokens, and the names of the `auth` field and of the HTTP headers. The field is read first.
 * @return A provider whose principals are the names of the tokens; `token-1`, `token-2` … in their order without a name.
 * @throws {TypeError} when `tokens` is empty, has an empty token, or one twice.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { staticTokens } from "@a2c-smcp/sdk/server";
 *
 * const provider = staticTokens({
 *   tokens: ["s3cret", { token: "0ther", name: "laptop", offices: ["lab"], roles: ["computer"] }],
 * });
 * const credentials = { auth: { token: "0ther" }, headers: {}, query: {}, address: "127.0.0.1" };
 * const decision = await provider.authenticate(credentials);
 * assertEquals("grant" in decision && decision.grant, { offices: ["lab"], roles: ["computer"] });
 * ```
 */
export function staticTokens({ tokens, ...place }: StaticTokensOptions): AuthProvider {
  if (tokens.length === 0) throw new TypeError("Cannot use the static tokens: at least one is required");
  const table = new TokenTable(place);
  try {
    table.replace(listTokens(tokens));
  } catch (cause) {
    if (!(cause instanceof FileContentError)) throw cause;
    throw new TypeError(`Cannot use the static tokens: ${cause.message}`, { cause });
  }
  return table;
}

const FILE_NAMES = {
  member: "token file",
  client: "MCP token file",
  operator: "operator token file",
} as const;

/** The options of {@linkcode TokenFile.open}. */
export interface TokenFileOptions extends TokenPlace {
  /**
   * Further tokens that are always accepted. A token without offices and roles allows all, whatever the file says; a
   * warning is logged when the file has limits.
   */
  readonly tokens?: readonly (string | StaticToken)[] | undefined;
  /** Whose tokens they are: those of members, which is the default, or of a hub's MCP clients or operators, with their attributes. */
  readonly kind?: "member" | "client" | "operator" | undefined;
  /** Called with the tokens of the file before they are accepted, at the start and after each change. What it throws refuses them. */
  readonly check?: ((tokens: readonly (StaticToken & { readonly place: string })[]) => void) | undefined;
  /** Receives a line after each change of the file; nothing is logged by default. */
  readonly logger?: Logger | undefined;
  /** The time between two checks of the file, in milliseconds; 1,000 by default. */
  readonly checkIntervalMs?: number | undefined;
}

/**
 * Admits clients with one of the tokens of a file (`docs/credentials.md#token-files`). When the file changes, it is read again:
 * connections of tokens that were removed end, and new tokens are accepted. A version that cannot be read changes
 * nothing.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TokenFile } from "@a2c-smcp/sdk/server";
 *
 * const path = await Deno.makeTempFile();
 * await Deno.writeTextFile(path, "s3cret name=laptop offices=lab roles=computer\n");
 * await using tokens = await TokenFile.open(path);
 * const credentials = { auth: { token: "s3cret" }, headers: {}, query: {}, address: "127.0.0.1" };
 * const decision = await tokens.authenticate(credentials);
 * assertEquals("principal" in decision && decision.principal, "laptop");
 * ```
 */
export class TokenFile implements AuthProvider, AsyncDisposable {
  readonly #table: TokenTable;
  readonly #files: WatchedFiles;

  static {
    acceptedBy = (provider) => {
      if (#table in provider) return { accepted: provider.#table.accepted, problem: provider.problem };
      return { accepted: provider instanceof TokenTable ? provider.accepted : [], problem: undefined };
    };
    findToken = (file, token) => file.#table.find(token);
  }

  private constructor(table: TokenTable, files: WatchedFiles) {
    this.#table = table;
    this.#files = files;
  }

  /**
   * Reads the file, and watches it until `close()`.
   *
   * @throws {FileContentError} when it cannot be read, or has a line that is not understood.
   */
  static async open(path: string, options: TokenFileOptions = {}): Promise<TokenFile> {
    const { tokens = [], kind = "member", check, logger = silentLogger, checkIntervalMs, ...place } = options;
    const always = listTokens(tokens).map((token) => ({ ...token, place: BESIDE_FILE }));
    const table = new TokenTable(place);
    const files = await WatchedFiles.open({
      kind: FILE_NAMES[kind],
      files: [path],
      maxBytes: CONSTANTS.maxTokenFileBytes.value,
      logger,
      intervalMs: checkIntervalMs,
      use: ([text = ""]) => {
        const listed = parseTokenList(text, kind === "member" ? kind : "client");
        table.replace([...always, ...listed], () => check?.(listed));
        for (const warning of warningsOf(listed, always)) logger.warn(warning, { file: path });
        return { tokens: table.size };
      },
    });
    return new TokenFile(table, files);
  }

  /** Why the newest version of the file is not in use; `undefined` while it is. */
  get problem(): string | undefined {
    return this.#files.problem;
  }

  /** Decides on one connection. */
  authenticate(credentials: Credentials): AuthDecision {
    return this.#table.authenticate(credentials);
  }

  /** Stops watching the file; its tokens stay accepted. Idempotent. */
  close(): Promise<void> {
    return this.#files.close();
  }

  /** The same as {@linkcode TokenFile.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function* warningsOf(listed: readonly ListedToken[], always: readonly ListedToken[]): Iterable<string> {
  if (always.some(isUnlimited) && !listed.every(isUnlimited)) {
    yield `${BESIDE_FILE} allows all offices and roles, although the file limits its tokens`;
  }
  const nowMs = Date.now();
  if (listed.every(({ expiresAtMs = Infinity }) => expiresAtMs <= nowMs)) {
    yield "all tokens of the token file have expired";
  }
}

function isUnlimited({ offices, roles }: ListedToken): boolean {
  return offices === undefined && roles === undefined;
}

/** A token that is accepted. */
export interface AcceptedToken {
  readonly listed: ListedToken;
  readonly admission: Admission;
}

export interface AcceptedTokens {
  readonly accepted: readonly AcceptedToken[];
  /** Why they are not those of the newest version of their file; `undefined` when they are. */
  readonly problem: string | undefined;
}

interface Entry extends AcceptedToken {
  readonly place: string;
  /** What a token may do, to find out whether that has changed. */
  readonly facts: string;
  readonly ending: AbortController;
}

/** The accepted tokens, found without a comparison whose time depends on them. They can change while connections are open. */
export class TokenTable implements AuthProvider {
  readonly #readToken: (credentials: Credentials) => string | undefined;
  /** By a hash with a random key, so that nobody can choose tokens by which the time of the lookup would tell anything. */
  #entries: ReadonlyMap<string, Entry> = new Map();
  readonly #key = randomBytes(32);

  constructor(place: TokenPlace = {}) {
    this.#readToken = createTokenReader(place);
  }

  get size(): number {
    return this.#entries.size;
  }

  get accepted(): readonly AcceptedToken[] {
    return [...this.#entries.values()];
  }

  authenticate(credentials: Credentials): AuthDecision {
    const token = this.#readToken(credentials);
    if (token === undefined) return { refused: "no token" };
    return this.find(token)?.admission ?? { refused: "wrong token" };
  }

  /** What a token is accepted for; `undefined` for a wrong one. */
  find(token: string): AcceptedToken | undefined {
    return this.#entries.get(this.#keyOf(digestOf(token)));
  }

  /**
   * Accepts these tokens from now on. Connections of tokens that are not among them end, and those of tokens whose
   * permissions have changed end as well, so that they come back with the new ones; if only the time has changed at which
   * a token expires, they stay until then. A token without a name keeps its number
   * when others are added or removed, and one that takes its place gets that number.
   *
   * @param check Called last before that.
   * @throws {FileContentError} for a token that is given twice with different permissions, and what `check` throws; nothing
   * changes then.
   */
  replace(tokens: readonly ListedToken[], check: () => void = () => undefined): void {
    const entries = new Map<string, Entry>();
    const keyed = tokens.map((listed) => ({ listed, key: this.#keyOf(acceptedDigestOf(listed.token)) }));
    const kept = new Set(keyed.map(({ key }) => this.#entries.get(key)?.admission.principal));
    let unnamed = 0;
    const nextPrincipal = (): string => {
      do unnamed++; while (kept.has(`token-${unnamed}`));
      return `token-${unnamed}`;
    };
    for (const { listed, key } of keyed) {
      const { place, name, offices, roles, expiresAtMs } = listed;
      const facts = factsOf(listed);
      const twin = entries.get(key);
      if (twin !== undefined && twin.facts !== facts) {
        throw contentProblem(`${place} repeats ${twin.place} with other permissions; remove one of them`);
      }
      const known = twin ?? this.#entries.get(key);
      if (known?.facts === facts) {
        entries.set(key, { ...known, place });
        continue;
      }
      const ending = new AbortController();
      const grant = offices === undefined && roles === undefined ? undefined : { offices, roles };
      const former = known?.listed.name === undefined ? known?.admission.principal : undefined;
      const principal = name ?? former ?? nextPrincipal();
      const admission = { principal, grant, expiresAtMs, signal: ending.signal };
      entries.set(key, { place, listed, admission, facts, ending });
    }
    check();
    const before = this.#entries;
    this.#entries = entries;
    for (const [key, entry] of before) endReplaced(entry, entries.get(key));
  }

  #keyOf(digest: Uint8Array): string {
    return createHash("sha256").update(this.#key).update(digest).digest("base64");
  }
}

function factsOf({ name, offices, roles, computers, rights, expiresAtMs }: ListedToken): string {
  return JSON.stringify([
    name,
    offices?.toSorted(),
    roles?.toSorted(),
    expiresAtMs,
    computers?.toSorted(),
    rights,
  ]);
}

/** Ends the connections of a token that is no longer accepted as it was. */
function endReplaced({ admission, listed, ending }: Entry, successor: Entry | undefined): void {
  if (successor?.ending === ending) return;
  const { principal } = admission;
  if (successor === undefined) {
    const message = `The token of "${principal}" was removed`;
    return ending.abort(new CredentialsEndedError(message, { kind: "revoked" }));
  }
  const message = `The permissions of "${principal}" have changed`;
  const isMoved = factsOf({ ...listed, expiresAtMs: successor.listed.expiresAtMs }) === successor.facts;
  const reason = isMoved
    ? new ExpiryMovedError(message, { former: admission, next: successor.admission })
    : new CredentialsEndedError(message, { kind: "changed" });
  ending.abort(reason);
}

/** The digest of an accepted token, which may be given as its hash. */
export function acceptedDigestOf(token: string): Uint8Array {
  return token.startsWith(HASH_PREFIX)
    ? Buffer.from(token.slice(HASH_PREFIX.length), "hex")
    : digestOf(token);
}
