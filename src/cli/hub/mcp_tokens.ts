/** Access of MCP clients by a file of tokens, which is read again when it changes; no token opens two things. */
import { type Access, AccessRefusal, type AccessRule, bearerRule } from "../../http/mcp/access.ts";
import { digestOf, readBearer } from "../../http/tokens.ts";
import { contentProblem } from "../../files/watched_files.ts";
import {
  acceptedDigestOf,
  type AcceptedToken,
  findToken,
  type TokenFile,
} from "../../server/admission/tokens.ts";
import type { ClaimTokens } from "../server/credentials.ts";

/** The option with the tokens of clients. */
export const CLIENT_TOKENS = "--mcp-token-file";

/** Admits clients with one of the tokens of `--mcp-token-file`. */
export function ruleOf(file: TokenFile): AccessRule {
  return bearerRule((token) => {
    const found = findAccepted(file, token);
    return typeof found === "string" ? found : accessOf(found);
  });
}

/** The same rule; the log says of a refused token which other option has it. The client is told nothing of that. */
export function namingOwners(rule: AccessRule, owners: Pick<TokenOwners, "optionOf">): AccessRule {
  return {
    ...rule,
    async admit(request, resource) {
      const answer = await rule.admit(request, resource);
      if (!(answer instanceof AccessRefusal)) return answer;
      const option = owners.optionOf(readBearer(request.headers.get("authorization")) ?? "");
      if (option === undefined) return answer;
      // One of a client is refused here alone when it has expired.
      const end = option === CLIENT_TOKENS ? " that has expired" : "";
      answer.explain(`a token of ${option}${end}`);
      return answer;
    },
  };
}

/** The token of the file; or why it is not accepted. */
export function findAccepted(file: TokenFile, token: string): AcceptedToken | "wrong" | "expired" {
  const found = findToken(file, token);
  if (found === undefined) return "wrong";
  return (found.admission.expiresAtMs ?? Infinity) <= Date.now() ? "expired" : found;
}

/** Refuses a token that two options give, at the start and when a file changes: each opens one thing, and it would open both. */
export class TokenOwners {
  /** The option of each token, by its digest. */
  readonly #options = new Map<string, string>();

  /** The option that has a token which a client has shown. */
  optionOf(token: string): string | undefined {
    return this.#options.get(digestOf(token).toHex());
  }

  readonly claim: ClaimTokens = (option, tokens) => {
    const keys = tokens.map(({ token, place }) => {
      const key = acceptedDigestOf(token).toHex();
      const other = this.#options.get(key);
      if (other === undefined || other === option) return key;
      throw contentProblem(
        `${place} has a token of ${other}; a token opens one of them alone; give each its own tokens`,
      );
    });
    for (const [key, owner] of this.#options) if (owner === option) this.#options.delete(key);
    for (const key of keys) this.#options.set(key, option);
  };
}

function accessOf({ listed, admission }: AcceptedToken): Access {
  const { name = "", computers, rights = "call" } = listed;
  const { principal, grant, expiresAtMs: expiresAt, signal } = admission;
  const offices = grant?.offices ?? "all";
  return {
    id: `token:${principal}`,
    client: name,
    offices,
    computers,
    rights,
    expiresAt,
    endsCalls: true,
    signal,
  };
}
