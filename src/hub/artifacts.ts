/**
 * Where `oidc-provider` keeps what it makes. Tokens, codes and grants are in the state file, under the digest of their value and
 * without it. A consent that is under way is in memory: it is of no use to anybody after a restart.
 */
import { BoundedMap } from "../async/bounded_collections.ts";
import { isRecord, parseJson } from "../json/json.ts";
import type { Clients } from "./clients.ts";
import { secretDigest, type StateFile } from "./state_file.ts";

/** The most consents that are under way at once; the oldest one gives way. */
const MAX_TRANSIENT = 2_048;
/** A client that sends two requests at once uses one refresh token twice, so it is theft only after a while, in milliseconds. */
const SAME_MOMENT_MS = 10_000;
/** The most codes and access tokens that a grant has. */
const MAX_PER_GRANT = 100;
/**
 * The most refresh tokens that a grant has, used ones included: two an hour for as long as they last. None is forgotten before the
 * others, since a thief would refresh until the stolen one is unknown, and then keep the grant.
 */
const MAX_REFRESHES = 5_000;
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
  readonly transient: Transient;
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
  if (TRANSIENT.includes(kind)) return transientAdapter(kind, stores.transient);
  // Clients with a metadata document are not kept, and the hub itself registers the others.
  if (kind === "Client") return { ...UNUSED, find: (id) => Promise.resolve(stores.clients.find(id)) };
  return fileAdapter(kind, stores);
}

function fileAdapter(kind: string, { file, revoke, usedTwice }: Stores): Adapter {
  const digestOf = (id: string) => secretDigest(kind, id);
  const countOf = (grantId: string) =>
    Number(
      file.get("SELECT count(*) AS count FROM artifacts WHERE grant_id = ? AND kind = ?", grantId, kind)
        ?.["count"],
    );
  return {
    ...UNUSED,
    upsert(id, { jti: _value, ...kept }, expiresInSeconds = 0) {
      const grantId = String(kind === "Grant" ? id : kept["grantId"]);
      file.transact(() => {
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
        if (kind === "RefreshToken") return;
        file.run(
          "DELETE FROM artifacts WHERE grant_id = ?1 AND kind = ?2 AND digest NOT IN (SELECT digest FROM artifacts " +
            `WHERE grant_id = ?1 AND kind = ?2 ORDER BY expires_at DESC, rowid DESC LIMIT ${MAX_PER_GRANT})`,
          grantId,
          kind,
        );
      });
      if (kind === "RefreshToken" && countOf(grantId) > MAX_REFRESHES) revoke(grantId);
      return Promise.resolve();
    },
    find(id) {
      const row = file.get(
        "SELECT payload, consumed_at FROM artifacts WHERE digest = ? AND kind = ? AND expires_at > ?",
        digestOf(id),
        kind,
        Date.now(),
      );
      const payload = parseJson(String(row?.["payload"] ?? ""));
      if (row === undefined || !isRecord(payload)) return Promise.resolve(undefined);
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

function transientAdapter(kind: string, memory: Transient): Adapter {
  const keyOf = (id: string) => `${kind}\n${id}`;
  return {
    ...UNUSED,
    upsert(id, payload, expiresInSeconds = 0) {
      memory.set(keyOf(id), payload, expiresInSeconds * 1_000);
      return Promise.resolve();
    },
    find: (id) => Promise.resolve(memory.get(keyOf(id))),
    findByUid: (uid) => Promise.resolve(memory.findBy(keyOf(""), (payload) => payload["uid"] === uid)),
    destroy(id) {
      memory.delete(keyOf(id));
      return Promise.resolve();
    },
  };
}

/** Consents under way, and the browsers that they belong to. */
export class Transient {
  readonly #entries = new BoundedMap<string, { readonly json: string; readonly endsAt: number }>(
    MAX_TRANSIENT,
  );

  set(key: string, payload: Payload, livesMs: number): void {
    this.#entries.set(key, { json: JSON.stringify(payload), endsAt: performance.now() + livesMs });
  }

  get(key: string): Payload | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.endsAt > performance.now()) return toPayload(entry.json);
    this.#entries.delete(key);
    return undefined;
  }

  findBy(prefix: string, isWanted: (payload: Payload) => boolean): Payload | undefined {
    for (const key of this.#entries.keys()) {
      const payload = key.startsWith(prefix) ? this.get(key) : undefined;
      if (payload !== undefined && isWanted(payload)) return payload;
    }
    return undefined;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

function toPayload(json: string): Payload | undefined {
  const payload = parseJson(json);
  return isRecord(payload) ? payload : undefined;
}
