/** Grants: what a person has allowed a client, until somebody takes it back. Tokens belong to a grant and end with it. */
import { randomBytes } from "node:crypto";
import { isRecord, isTexts, parseJson } from "../json/json.ts";
import type { LogFields } from "../log.ts";
import { ACCESS_RIGHTS, type AccessRights } from "../protocol/rights.ts";
import { type Row, secretDigest, type StateFile } from "./state_file.ts";

export interface NewGrant {
  readonly clientId: string;
  /** The client's name: it has chosen it itself. */
  readonly client: string;
  /** The host that the person was sent back to. */
  readonly returnsTo: string;
  /** Whose invitation was used, or which operator has signed in. */
  readonly consentedBy: string;
  /** The path of the hub that its tokens are for, as a URL. */
  readonly resource: string;
  /** By their ids. */
  readonly offices: readonly string[];
  /** All Computers when absent. */
  readonly computers?: readonly string[] | undefined;
  readonly rights: AccessRights;
}

export interface Grant extends NewGrant {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly lastUsed: number | undefined;
  readonly calls: number;
}

/** What a command may change of a grant; nothing of it gives more than the client's tokens allow. */
export interface GrantChange {
  readonly client?: string | undefined;
  readonly rights?: AccessRights | undefined;
  readonly offices?: readonly string[] | undefined;
  readonly computers?: readonly string[] | undefined;
}

/** A grant is kept so long after its consent without a token, while the client fetches its first one, in milliseconds. */
const UNUSED_MS = 10 * 60_000;
const ID_BYTES = 6;

export class Grants {
  readonly #file: StateFile;
  readonly #now: () => number;
  /** Called when a grant begins or ends here, and not by another program. */
  onBegin: (grant: Grant) => void = () => {};
  onEnd: (id: string) => void = () => {};

  constructor(file: StateFile, now = () => Date.now()) {
    this.#file = file;
    this.#now = now;
  }

  /** Keeps a new grant, and returns its id. Others of the same client stay: all people who use one service share its client. */
  add(grant: NewGrant): string {
    const id = `g_${randomBytes(ID_BYTES).toString("hex")}`;
    const { clientId, client, returnsTo, consentedBy, resource, offices, computers, rights } = grant;
    const since = this.#now();
    this.#file.run(
      "INSERT INTO grants (id, client_id, client, returns_to, consented_by, resource, offices, computers, rights, " +
        "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      clientId,
      client,
      returnsTo,
      consentedBy,
      resource,
      JSON.stringify(offices),
      computers === undefined ? null : JSON.stringify(computers),
      rights,
      since,
    );
    this.onBegin({ ...grant, id, since, lastUsed: undefined, calls: 0 });
    return id;
  }

  /** All grants, the newest last. */
  list(): readonly Grant[] {
    return this.#file.all("SELECT * FROM grants ORDER BY created_at, id").flatMap((row) =>
      toGrant(row) ?? []
    );
  }

  find(id: string): Grant | undefined {
    const row = this.#file.get("SELECT * FROM grants WHERE id = ?", id);
    return row && toGrant(row);
  }

  /** Changes a grant for its tokens that are out as well; `false` when there is none. */
  change(id: string, { client, rights, offices, computers }: GrantChange): boolean {
    const changed = this.#file.run(
      "UPDATE grants SET client = coalesce(?, client), rights = coalesce(?, rights), " +
        "offices = coalesce(?, offices), computers = coalesce(?, computers) WHERE id = ?",
      client ?? null,
      rights ?? null,
      offices === undefined ? null : JSON.stringify(offices),
      computers === undefined ? null : JSON.stringify(computers),
      id,
    );
    return changed > 0;
  }

  /** Ends a grant and all of its tokens; `false` when there is none. */
  revoke(id: string): boolean {
    return this.#file.transact(() => this.#delete(id));
  }

  countUse(id: string, { usedAt, calls }: { readonly usedAt: number; readonly calls: number }): void {
    this.#file.run(
      "UPDATE grants SET used_at = max(coalesce(used_at, 0), ?), calls = calls + ? WHERE id = ?",
      usedAt,
      calls,
      id,
    );
  }

  /** Forgets tokens that have ended, and grants that have no token left; returns the ids of those grants. */
  prune(): readonly string[] {
    const now = this.#now();
    return this.#file.transact(() => {
      this.#file.run("DELETE FROM artifacts WHERE expires_at <= ?", now);
      const ended = this.#file.all(
        "SELECT id FROM grants WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM artifacts " +
          "WHERE grant_id = grants.id AND kind IN ('AccessToken', 'RefreshToken') AND consumed_at IS NULL)",
        now - UNUSED_MS,
      ).map(({ id }) => String(id));
      for (const id of ended) this.#delete(id);
      return ended;
    });
  }

  #delete(id: string): boolean {
    this.onEnd(id);
    // Access tokens are of no use without their grant: they stay until they expire, to say whose they were.
    this.#file.run("DELETE FROM artifacts WHERE grant_id = ? AND kind <> 'AccessToken'", id);
    return this.#file.run("DELETE FROM grants WHERE id = ?", id) > 0;
  }
}

/** Finds an access token, and its grant. */
export function findAccessToken(file: StateFile, token: string, now: number) {
  const row = file.get(
    "SELECT grants.*, payload, expires_at FROM artifacts JOIN grants ON grants.id = grant_id " +
      "WHERE digest = ? AND kind = 'AccessToken' AND expires_at > ?",
    secretDigest("AccessToken", token),
    now,
  );
  const grant = row && toGrant(row);
  if (row === undefined || grant === undefined) return undefined;
  const payload = parseJson(String(row["payload"]));
  const { aud: audience, scope } = isRecord(payload) ? payload : {};
  if (typeof audience !== "string" || typeof scope !== "string") return undefined;
  return { grant, audience, scopes: scope.split(" "), expiresAt: Number(row["expires_at"]) };
}

/** What an operator is told of a token that was refused at a path: never the token itself. */
export function describeToken(file: StateFile, token: string, now: number): LogFields {
  const known = findAccessToken(file, token, now);
  if (known !== undefined) {
    const { grant: { id, client }, audience } = known;
    return { detail: "a token of a grant for another path", grant: id, client, for: audience };
  }
  const digest = secretDigest("AccessToken", token);
  const grant = file.get("SELECT grant_id FROM artifacts WHERE digest = ?", digest)?.["grant_id"];
  if (grant === undefined) return { detail: "wrong token: unknown, or expired" };
  const isLeft = file.get("SELECT 1 FROM grants WHERE id = ?", String(grant)) !== undefined;
  return {
    detail: isLeft ? "expired token of a grant" : "token of a grant that was revoked or has ended",
    grant,
  };
}

/** The grant of a row; `undefined` for one that nobody of this program wrote, which gives no rights. */
function toGrant(row: Row): Grant | undefined {
  const offices = parseJson(String(row["offices"]));
  const computers = typeof row["computers"] === "string" ? parseJson(row["computers"]) : undefined;
  const rights = ACCESS_RIGHTS.find((each) => each === row["rights"]);
  const isWhole = isTexts(offices) && (computers === undefined || isTexts(computers));
  if (!isWhole || rights === undefined) return undefined;
  const usedAt = row["used_at"];
  return {
    id: String(row["id"]),
    clientId: String(row["client_id"]),
    client: String(row["client"]),
    returnsTo: String(row["returns_to"]),
    consentedBy: String(row["consented_by"]),
    resource: String(row["resource"]),
    offices,
    computers,
    rights,
    since: Number(row["created_at"]),
    lastUsed: usedAt === null ? undefined : Number(usedAt),
    calls: Number(row["calls"]),
  };
}
