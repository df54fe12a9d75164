/**
 * Where `oidc-provider` keeps what it makes. Tokens, codes and grants are in the state file, under the digest of their value and
 * without it. A consent that is under way is in memory: it is of no use to anybody after a restart.
 */
import { BoundedMap } from "../async/bounded_collections.ts";
import { isRecord, parseJson } from "../json/json.ts";
import { type Clients, isDocumentId } from "./clients.ts";
import { secretDigest, type StateFile } from "./state_file.ts";

/** The most consents, and browsers that they belong to, that are kept; the oldest one gives way. */
const MAX_TRANSIENT = 2_048;
/** A client that sends two requests at once uses one refresh token twice, so it is theft only after a while, in milliseconds. */
const SAME_MOMENT_MS = 10_000;
/**
 * The most tokens that a grant has, used ones included: two refreshes an hour for as long as they last. None is forgotten before the
 * others, since a thief would refresh until the stolen one is unknown, and then keep the grant.
 */
const MAX_PER_GRANT = 5_000;
/** What lives as long as a consent that is under way. */
const TRANSIENT: readonly string[] = ["Interaction", "Session"];

type Payload = Record<string, unknown>;

/** The store of one kind, as the library asks for it. */
export interface Adapter {
  upsert(id: string, payload: Payload, expiresInSeconds?: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<Payload | undefined>;
  findByUserCode(): Promise<undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

export interface Stores {
  readonly file: StateFile;
  readonly clients: Clients;
  /** Called when a grant ends because a code or refresh token of it was used twice, it was refreshed too often, or its client ends it. */
  readonly revoke: (grantId: string) => void;
  /** The error of a code or token that was used at the same moment by somebody else. */
  readonly usedTwice: () => Error;
}

/** What a kind of artifact has no use for. */
const UNUSED: Adapter = {
  upsert: () => Promise.reject(new TypeError("Cannot store it: this kind is read only")),
  find: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  revokeByGrantId: () => Promise.resolve(),
};

/** Creates the store of a kind. */
export function createAdapter(kind: string, stores: Stores): Adapter {
  if (TRANSIENT.includes(kind)) return transientAdapter();
  // The library reads metadata documents, and the hub itself registers the other clients.
  if (kind === "Client") {
    return {
      ...UNUSED,
      find: (id) => Promise.resolve(isDocumentId(id) ? undefined : stores.clients.find(id)),
    };
  }
  return fileAdapter(kind, stores);
}

function fileAdapter(kind: string, { file, revoke, usedTwice }: Stores): Adapter {
  const digestOf = (id: string) => secretDigest(kind, id);
  const countOf = (grantId: string) =>
    Number(file.get("SELECT count(*) AS count FROM artifacts WHERE grant_id = ?", grantId)?.["count"]);
  return {
    ...UNUSED,
    upsert(id, { jti: _value, ...kept }, expiresInSeconds = 0) {
      const grantId = String(kind === "Grant" ? id : kept["grantId"]);
      // Somebody may have ended the grant while its token was being made.
      file.run(
        "INSERT OR REPLACE INTO artifacts (digest, kind, payload, grant_id, expires_at) " +
          "SELECT ?, ?, ?, id, ? FROM grants WHERE id = ?",
        digestOf(id),
        kind,
        JSON.stringify(kept),
        Date.now() + expiresInSeconds * 1_000,
        grantId,
      );
      if (countOf(grantId) > MAX_PER_GRANT) revoke(grantId);
      return Promise.resolve();
    },
    find(id) {
      const row = file.get(
        "SELECT payload, consumed_at FROM artifacts WHERE digest = ? AND kind = ? AND expires_at > ?",
        digestOf(id),
        kind,
        Date.now(),
      );
      const payload = toPayload(String(row?.["payload"] ?? ""));
      if (row === undefined || payload === undefined) return Promise.resolve(undefined);
      const usedAt = row["consumed_at"];
      if (typeof usedAt !== "number") return Promise.resolve({ ...payload, jti: id });
      if (kind === "RefreshToken" && Date.now() - usedAt < SAME_MOMENT_MS) return Promise.reject(usedTwice());
      return Promise.resolve({ ...payload, jti: id, consumed: Math.floor(usedAt / 1_000) });
    },
    /** Of two requests at once, one alone gets on. */
    consume(id) {
      const changed = file.run(
        "UPDATE artifacts SET consumed_at = ? WHERE digest = ? AND kind = ? AND consumed_at IS NULL",
        Date.now(),
        digestOf(id),
        kind,
      );
      return changed > 0 ? Promise.resolve() : Promise.reject(usedTwice());
    },
    destroy(id) {
      if (kind === "Grant") revoke(id);
      else file.run("DELETE FROM artifacts WHERE digest = ? AND kind = ?", digestOf(id), kind);
      return Promise.resolve();
    },
    revokeByGrantId(grantId) {
      file.run("DELETE FROM artifacts WHERE grant_id = ? AND kind = ?", grantId, kind);
      return Promise.resolve();
    },
  };
}

/** The library looks by itself whether what is found has expired. */
function transientAdapter(): Adapter {
  const entries = new BoundedMap<string, string>(MAX_TRANSIENT);
  return {
    ...UNUSED,
    upsert(id, payload) {
      entries.set(id, JSON.stringify(payload));
      return Promise.resolve();
    },
    find: (id) => Promise.resolve(toPayload(entries.get(id))),
    findByUid: (uid) =>
      Promise.resolve(entries.values().map(toPayload).find((each) => each?.["uid"] === uid)),
    destroy(id) {
      entries.delete(id);
      return Promise.resolve();
    },
  };
}

function toPayload(json = ""): Payload | undefined {
  const payload = parseJson(json);
  return isRecord(payload) ? payload : undefined;
}
