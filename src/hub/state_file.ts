/**
 * What a hub keeps: clients, grants, tokens, invitations and its own keys, in one file of SQLite. The hub and the commands of its
 * operator use it at the same time. Of what is secret it holds digests, besides the keys of the hub itself.
 */
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { holdLock } from "../files/files.ts";
import { isRecord, parseJson } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { describeError } from "../text/text.ts";

/** How long a command waits for another program that writes, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
const VERSION = "1";
const FILE_MODE = 0o600;
/** The endings of the files that SQLite makes of one. */
const PARTS = ["", "-wal", "-shm"] as const;
/** How each database begins. */
const MAGIC = "SQLite format 3\0";
const COOKIE_KEY_BYTES = 32;
const CURVE = "P-256";

const TABLES = `
  CREATE TABLE IF NOT EXISTS keys (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS clients (
    id TEXT PRIMARY KEY, metadata TEXT NOT NULL, used_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS artifacts (
    digest TEXT PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, grant_id TEXT,
    consumed_at INTEGER, expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS artifacts_of_grants ON artifacts (grant_id);
  CREATE INDEX IF NOT EXISTS artifacts_by_end ON artifacts (expires_at);
  CREATE TABLE IF NOT EXISTS grants (
    id TEXT PRIMARY KEY, client_id TEXT NOT NULL, client TEXT NOT NULL, returns_to TEXT NOT NULL,
    consented_by TEXT NOT NULL, resource TEXT NOT NULL, offices TEXT NOT NULL, computers TEXT,
    rights TEXT NOT NULL, created_at INTEGER NOT NULL, used_at INTEGER, calls INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS grants_of_clients ON grants (client_id);
  CREATE TABLE IF NOT EXISTS commands (id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL) STRICT;
`;

/** The file cannot be used, and says why. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";
  readonly code = "HUB_STATE";
}

/** The keys that the hub signs with. */
export interface HubKeys {
  readonly cookies: string;
  readonly signing: Readonly<Record<string, unknown>>;
}

export type Row = Readonly<Record<string, unknown>>;

export class StateFile implements Disposable {
  readonly path: string;
  readonly keys: HubKeys;
  readonly #db: DatabaseSync;
  #lock: Disposable | undefined;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string, db: DatabaseSync, lock: Disposable | undefined) {
    this.path = path;
    this.#db = db;
    this.keys = this.#readKeys();
    this.#lock = lock;
  }

  /**
   * Opens the file, and makes one that only its owner can read where there is none. One that is damaged is moved aside, so that
   * the hub can start: all of its tokens are refused from then on. A file of another version, or of no hub, stays as it is.
   *
   * @throws {StateFileError} when it cannot be opened or made, belongs to something else, or another hub uses it.
   */
  static open(path: string, { logger }: { readonly logger: Logger }): StateFile {
    let lock: Disposable | undefined;
    try {
      refuseOther(path);
      lock = takeLock(path);
      return StateFile.#read(path, { lock });
    } catch (error) {
      if (lock === undefined || !isDamage(error)) {
        lock?.[Symbol.dispose]();
        throw cannotOpen(path, error);
      }
      const aside = `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
      for (const end of PARTS) {
        if (existsSync(path + end)) renameSync(path + end, aside + end);
      }
      const fields = { path, moved_to: aside, error: describeError(error) };
      logger.error(
        "the hub's state file is damaged: all clients have to be connected again, the old tokens are refused",
        fields,
      );
      return StateFile.#read(path, { lock });
    }
  }

  /**
   * Opens the file of a hub for a command. A damaged one stays where it is.
   *
   * @throws {StateFileError} when there is none, or it cannot be read, or belongs to something else.
   */
  static openExisting(path: string): StateFile {
    try {
      refuseOther(path);
      if (!existsSync(path)) {
        throw stateError(path, "no such file; start the hub first, or give its --state-file");
      }
      return StateFile.#read(path);
    } catch (error) {
      throw cannotOpen(path, error);
    }
  }

  /** @param options `lock`: that of a hub, which makes a file where there is none. */
  static #read(path: string, { lock }: { readonly lock?: Disposable } = {}): StateFile {
    // A file of a hub has bytes from its first moment on: one without has lost them.
    if (statSync(path, { throwIfNoEntry: false })?.size === 0) throw new DamagedError("It is empty");
    if (lock !== undefined) makePrivate(path);
    const db = new DatabaseSync(path);
    try {
      db.exec(
        `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`,
      );
      const { quick_check: check } = db.prepare("PRAGMA quick_check(1)").get() ?? {};
      if (check !== "ok") throw new DamagedError(`Damaged: ${check}`);
      db.exec(TABLES);
      return new StateFile(path, db, lock);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    return this.#statement(sql).all(...values);
  }

  get(sql: string, ...values: readonly SQLInputValue[]): Row | undefined {
    return this.#statement(sql).get(...values);
  }

  /** Returns how many rows it has changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Runs all of it, or nothing; within another one, as a part of that. */
  transact<T>(work: () => T): T {
    if (this.#db.isTransaction) return work();
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      // A full disk ends the transaction by itself.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#statements.clear();
    if (this.#db.isOpen) this.#db.close();
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.#db.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  #readKeys(): HubKeys {
    const insert = "INSERT OR IGNORE INTO keys (name, value) VALUES (?, ?)";
    this.run(insert, "version", VERSION);
    if (this.#key("signing") === undefined) {
      this.run(insert, "cookies", randomBytes(COOKIE_KEY_BYTES).toString("base64url"));
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: CURVE });
      this.run(insert, "signing", JSON.stringify(privateKey.export({ format: "jwk" })));
    }
    const [cookies, signing] = [this.#key("cookies"), parseJson(this.#key("signing") ?? "")];
    if (!cookies || !isSigningKey(signing)) throw new DamagedError("Cannot read its keys");
    return { cookies, signing };
  }

  #key(name: string): string | undefined {
    const value = this.get("SELECT value FROM keys WHERE name = ?", name)?.["value"];
    return typeof value === "string" ? value : undefined;
  }
}

/** Whether it is a private key of the kind that the hub makes. */
function isSigningKey(value: unknown): value is HubKeys["signing"] {
  if (!isRecord(value) || value["crv"] !== CURVE || typeof value["d"] !== "string") return false;
  try {
    createPrivateKey({ key: value, format: "jwk" });
    return true;
  } catch {
    return false;
  }
}

/** What stands in the file for a secret, or for an id that is one. They are long and random, so a plain digest does. */
export function secretDigest(kind: string, secret: string): string {
  return createHash("sha256").update(`${kind}\n${secret}`).digest("base64url");
}

class DamagedError extends Error {
  override readonly name = "DamagedError";
}

/** Errors of SQLite have no code; the last ones are of tables that are not those of this program. */
const DAMAGE = /malformed|not a database|no such (?:table|column)|has no column/;

function isDamage(error: unknown): boolean {
  return error instanceof DamagedError || DAMAGE.test(describeError(error));
}

/** @throws {StateFileError} for a file that is not of a hub of this version. One that a hub has used may be damaged. */
function refuseOther(path: string): void {
  if (!existsSync(path)) return;
  let version: unknown;
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      version = db.prepare("SELECT value FROM keys WHERE name = 'version'").get()?.["value"];
    } finally {
      db.close();
    }
  } catch (error) {
    if (existsSync(lockOf(path)) || !isDamage(error) || isBroken(path, error)) return;
    throw stateError(path, "it is not a file of a hub; give another --state-file");
  }
  if (version === undefined || version === VERSION) return;
  throw stateError(
    path,
    `it is of version "${version}", and this program reads version ${VERSION}: use the release that wrote it, or give ` +
      "another --state-file",
  );
}

/** Whether it is empty, or what is left of a database. What can be read, and has other tables, is a database of something else. */
function isBroken(path: string, error: unknown): boolean {
  const head = readHead(path);
  return head === "" || (head === MAGIC && !/no such/.test(describeError(error)));
}

/** As much as tells a database; what the file of something else has besides may be large. */
function readHead(path: string): string {
  const bytes = Buffer.alloc(MAGIC.length);
  const file = openSync(path, "r");
  try {
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** The lock of the file itself, by whatever link it is named. */
function lockOf(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}.lock`;
}

/** Keeps other hubs from the file, however this process ends. Commands are not kept from it. */
function takeLock(path: string): Disposable {
  const lock = holdLock(lockOf(path));
  if (lock !== undefined) return lock;
  throw stateError(path, "another hub uses it; end that one, or give another --state-file");
}

function makePrivate(path: string): void {
  closeSync(openSync(path, "a", FILE_MODE));
  for (const file of PARTS.map((end) => path + end)) {
    if (existsSync(file)) chmodSync(file, FILE_MODE);
  }
}

function cannotOpen(path: string, cause: unknown): StateFileError {
  return cause instanceof StateFileError ? cause : stateError(path, describeError(cause), { cause });
}

function stateError(path: string, state: string, options: ErrorOptions = {}): StateFileError {
  return new StateFileError(`Cannot open the hub's state file "${path}": ${state}`, options);
}
