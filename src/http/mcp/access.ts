/** Who an MCP client is, and what it may do: the answer of an access rule to each request. */
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { LogFields } from "../../log.ts";
import type { AccessRights } from "../../protocol/rights.ts";
import type { AskedRequest } from "../headers.ts";
import { digestOf, isToken, readBearer } from "../tokens.ts";
import { httpError } from "./http_error.ts";

/** Who sent a request of an MCP client, and what it may do. */
export interface Access {
  /** Stable for one grant or token: sessions, limits, log lines and revocation belong to it. Never a secret. */
  readonly id: string;
  /** The client as people see it, such as `Claude`. The client chose it. Empty where its credential does not say. */
  readonly client: string;
  /** Who has let it in, such as whoever has consented to its grant; absent where nobody is known. */
  readonly person?: string | undefined;
  /** The ids of the offices that it may use; `all` for a static token. */
  readonly offices: "all" | readonly string[];
  /** The Computers that it may see; all when absent. The others do not exist for it. */
  readonly computers?: readonly string[] | undefined;
  /**
   * What it may do. `read`: lists, reads, and tools that say that they modify nothing (`readOnlyHint`). `confirm`: also all
   * other tools, each asked at the machine. `call`: all.
   */
  readonly rights: AccessRights;
  /** When the credential ends, in milliseconds since 1970; never when absent. Streams end then, and calls go on. */
  readonly expiresAt?: number | undefined;
  /** Whether calls end then as well: the access ends with the credential, which the client does not renew. */
  readonly endsCalls?: boolean | undefined;
  /** Aborted when the credential ends before that. */
  readonly signal?: AbortSignal | undefined;
  /** Answers a call that needs more rights: asks the client for a credential with them. Absent where none has more. */
  readonly challenge?: (() => Response) | undefined;
}

/**
 * What an entrance asks before it opens a path.
 *
 * @example
 * ```ts
 * import type { AccessRule } from "@a2c-smcp/sdk/gateway";
 *
 * export const readers: AccessRule = {
 *   admit: ({ headers }) =>
 *     Promise.resolve(
 *       headers.get("x-reader") === null
 *         ? new Response(null, { status: 401 })
 *         : { id: "readers", client: "", offices: "all", rights: "read" },
 *     ),
 * };
 * ```
 */
export interface AccessRule {
  /**
   * Decides on one request. A `Response` refuses it.
   *
   * @param resource The canonical URL of the path, which the audience of a token must equal.
   */
  admit(request: AskedRequest, resource: string): Promise<Access | Response>;
  /** What clients read about a path before they have a token (RFC 9728); nothing when absent. */
  metadata?(resource: string): Readonly<Record<string, unknown>>;
}

/** A refusal whose line in the audit log says why, and more than the client is told. */
export class AccessRefusal extends Response {
  /** Of the line: a client that signs in begins with a request without a token, and nothing is wrong then. */
  readonly level: "info" | "warn";
  #log: LogFields;

  /**
   * @param why `message`: what the client is told. `challenge`: the header `WWW-Authenticate`, where another credential
   * helps. `log`: fields of the line, among them the `reason`. `level`: `warn` by default.
   */
  constructor(
    status: number,
    { message, challenge, log, level = "warn" }: {
      readonly message: string;
      readonly challenge?: string | undefined;
      readonly log: LogFields & { readonly reason: string };
      readonly level?: "info" | "warn" | undefined;
    },
  ) {
    const { body, headers } = httpError(status, message);
    if (challenge !== undefined) headers.set("www-authenticate", challenge);
    super(body, { status, headers });
    this.#log = log;
    this.level = level;
  }

  /** The fields of the line. */
  get log(): LogFields {
    return this.#log;
  }

  /** Adds to the line what somebody else than the rule knows. */
  explain(detail: string): void {
    this.#log = { ...this.#log, detail };
  }
}

/** Whoever has the token of the owner, or reaches a port that needs none: any number of clients. */
export const OWNER: Access = { id: "owner", client: "", offices: "all", rights: "call" };

/** Admits everybody as the owner. */
export const anybody: AccessRule = { admit: () => Promise.resolve(OWNER) };

/** Admits as the owner whoever has the token. */
export function tokenRule(token: string): AccessRule {
  const digest = digestOf(token);
  return bearerRule((shown) => isToken(shown, digest) ? OWNER : "wrong");
}

/** Admits whoever has a bearer token for which `find` finds an access. */
export function bearerRule(find: (token: string) => Access | "wrong" | "expired"): AccessRule {
  return {
    admit({ headers }) {
      const shown = readBearer(headers.get("authorization"));
      const found = shown === undefined ? "missing" : find(shown);
      return Promise.resolve(typeof found === "string" ? refuseToken(found) : found);
    },
  };
}

const TOKEN_PROBLEMS = {
  missing: ["it has no bearer token", "no token"],
  wrong: ["its bearer token is wrong", "wrong token"],
  expired: ["its bearer token has expired", "expired token"],
} as const;

/** The refusal of a request by its bearer token; `challenge` is the header `WWW-Authenticate`. */
export function refuseToken(
  state: keyof typeof TOKEN_PROBLEMS,
  challenge = `Bearer realm="a2c-smcp"${state === "missing" ? "" : ', error="invalid_token"'}`,
): AccessRefusal {
  const [problem, reason] = TOKEN_PROBLEMS[state];
  return new AccessRefusal(401, {
    message: `Cannot serve this request: ${problem}`,
    challenge,
    log: { reason },
    level: state === "missing" ? "info" : "warn",
  });
}

/** The refusal of a client whose credential is not for an office; `undefined` when it is. */
export function refuseOffice({ id, offices }: Access, office: string | undefined): AccessRefusal | undefined {
  if (offices === "all" || (office !== undefined && offices.includes(office))) return undefined;
  return notFor("office", { office, credential: id });
}

/** The refusal of a client whose credential is not for a Computer, be there such a one or not; `undefined` when it is. */
export function refuseComputer({ id, computers }: Access, computer: string): AccessRefusal | undefined {
  if (computers === undefined || computers.includes(computer)) return undefined;
  return notFor("Computer", { computer, credential: id });
}

function notFor(what: "office" | "Computer", log: LogFields): AccessRefusal {
  const reason = `not for this ${what}`;
  const message = `Cannot serve this request: the credential is ${reason}`;
  return new AccessRefusal(403, { message, log: { reason, ...log } });
}

/** Admits what one of several rules admits. They are asked in their order; a refusal is that of the last. */
export function firstRule(rules: readonly [AccessRule, ...AccessRule[]]): AccessRule {
  const [first, ...others] = rules;
  const describing = rules.find(({ metadata }) => metadata !== undefined);
  return {
    async admit(request, resource) {
      let answer = await first.admit(request, resource);
      for (const rule of others) {
        if (!(answer instanceof Response)) break;
        answer = await rule.admit(request, resource);
      }
      return answer;
    },
    ...(describing === undefined ? {} : { metadata: (resource) => describing.metadata?.(resource) ?? {} }),
  };
}

/** The access of requests, by what the MCP SDK passes on of them. */
const passed = new WeakMap<AuthInfo, Access>();

/** Wraps an access for the MCP SDK, which passes it on to the factory of a server. */
export function toAuthInfo(access: Access): AuthInfo {
  const info: AuthInfo = { token: "", clientId: access.id, scopes: [] };
  passed.set(info, access);
  return info;
}

/** @throws {TypeError} for what {@linkcode toAuthInfo} has not made: nobody is admitted by default. */
export function accessOf(info: AuthInfo | undefined): Access {
  const access = info && passed.get(info);
  if (access === undefined) throw new TypeError("Cannot serve this request: nobody has admitted its client");
  return access;
}
