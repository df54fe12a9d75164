/** The tokens of a provider, found without a comparison whose time depends on them. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Grant } from "./grant.ts";
import { type Admission, CredentialsEndedError } from "./provider.ts";
import { HASH_PREFIX, type ListedToken } from "./token_list.ts";
import { contentProblem } from "../files/file_content.ts";

interface Entry {
  readonly digest: Uint8Array;
  readonly principal: string;
  readonly grant: Grant | undefined;
  readonly expiresAtMs: number | undefined;
  readonly ending: AbortController;
}

export type TokenCounts = Readonly<Record<"tokens" | "added" | "removed" | "changed", number>>;

/** The accepted tokens. Their set can change while connections are open. */
export class TokenTable {
  /**
   * By a keyed hash of the token's digest. The key is random, so that nobody can choose tokens by which the time of the
   * lookup would tell anything.
   */
  #entries: ReadonlyMap<string, Entry> = new Map();
  readonly #key = randomBytes(32);
  /** The principals of tokens without a name: a token keeps its number when others are added or removed. */
  #unnamed = 0;

  constructor(tokens: readonly ListedToken[]) {
    this.replace(tokens);
  }

  /**
   * Accepts these tokens from now on. Connections of tokens that are not among them end, and those of tokens whose
   * permissions have changed end as well, so that they come back with the new ones.
   *
   * @throws {FileContentError} for a token that is given twice with different permissions; nothing changes then.
   */
  replace(tokens: readonly ListedToken[]): TokenCounts {
    const entries = new Map<string, Entry>();
    const places = new Map<string, string>();
    const before = this.#entries;
    let unnamed = this.#unnamed;
    for (const token of tokens) {
      const digest = acceptedDigestOf(token.token);
      const key = this.#keyOf(digest);
      const twin = entries.get(key);
      if (twin !== undefined) {
        const repeated = toEntry(token, { digest, principal: token.name ?? twin.principal });
        if (isSame(repeated, twin)) continue;
        const place = places.get(key) ?? "another token";
        throw contentProblem(`${token.place} repeats ${place} with other permissions; remove one of them`);
      }
      places.set(key, token.place);
      const known = before.get(key);
      const principal = token.name ?? unnamedOf(known) ?? `token-${++unnamed}`;
      const entry = toEntry(token, { digest, principal });
      entries.set(key, known !== undefined && isSame(known, entry) ? known : entry);
    }
    this.#unnamed = unnamed;
    this.#entries = entries;
    for (const [key, entry] of before) {
      if (entries.get(key) !== entry) entry.ending.abort(endOf(entry, entries.get(key)));
    }
    const kept = [...entries.keys()].filter((key) => before.has(key));
    return {
      tokens: entries.size,
      added: entries.size - kept.length,
      removed: before.size - kept.length,
      changed: kept.filter((key) => entries.get(key) !== before.get(key)).length,
    };
  }

  /** Returns what a token allows; `undefined` for a token that is not accepted. */
  find(token: string): Admission | undefined {
    const digest = digestOf(token);
    const entry = this.#entries.get(this.#keyOf(digest));
    if (entry === undefined || !timingSafeEqual(entry.digest, digest)) return undefined;
    const { principal, grant, expiresAtMs, ending } = entry;
    return {
      principal,
      ...(grant === undefined ? {} : { grant }),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
      signal: ending.signal,
    };
  }

  #keyOf(digest: Uint8Array): string {
    return createHash("sha256").update(this.#key).update(digest).digest("base64");
  }
}

function toEntry(
  { offices, roles, expiresAtMs }: ListedToken,
  { digest, principal }: Pick<Entry, "digest" | "principal">,
): Entry {
  const grant = offices === undefined && roles === undefined ? undefined : { offices, roles };
  return { digest, principal, grant, expiresAtMs, ending: new AbortController() };
}

function unnamedOf(known: Entry | undefined): string | undefined {
  return known !== undefined && /^token-\d+$/.test(known.principal) ? known.principal : undefined;
}

function isSame(a: Entry, b: Entry): boolean {
  const factsOf = ({ principal, grant, expiresAtMs }: Entry) =>
    JSON.stringify([principal, expiresAtMs, grant?.offices?.toSorted(), grant?.roles?.toSorted()]);
  return factsOf(a) === factsOf(b);
}

function endOf(entry: Entry, successor: Entry | undefined): CredentialsEndedError {
  return successor === undefined
    ? new CredentialsEndedError(`The token of "${entry.principal}" was removed`, { kind: "revoked" })
    : new CredentialsEndedError(`The permissions of "${entry.principal}" have changed`, { kind: "changed" });
}

/** The digest of an accepted token, which may be given as its hash. */
function acceptedDigestOf(token: string): Uint8Array {
  return token.startsWith(HASH_PREFIX)
    ? Uint8Array.from(token.slice(HASH_PREFIX.length).match(/../g) ?? [], (byte) => parseInt(byte, 16))
    : digestOf(token);
}

/** Digests have a fixed length, so that no comparison depends on the length of a token. */
function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
