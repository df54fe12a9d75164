/** Sign-ins in one private file, which several processes share. */
import { dirname, join } from "@std/path";
import { z } from "zod";
import { readRegularFile, replaceFile } from "../../files/files.ts";
import { FileWatch } from "../../files/watched_files.ts";
import { parseJson } from "../../json/json.ts";
import {
  KeyedMutex,
  keyText,
  type SignInKey,
  type StoredSignIn,
  type TokenKeychain,
  type TokenStore,
} from "./token_store.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** The time between two looks for changes by other processes, in milliseconds. */
const LOOK_INTERVAL_MS = 500;
/** The bytes of a digest that name a lock file. */
const LOCK_NAME_BYTES = 8;

const text = z.string();
const storedSignIn: z.ZodType<StoredSignIn> = z.object({
  server: text,
  resource: text,
  issuer: text,
  client: z.object({
    clientId: text,
    clientSecret: text.optional(),
    secretExpiresAtMs: z.number().optional(),
    authMethod: text.optional(),
    redirectUri: text.optional(),
    source: z.enum(["configured", "document", "registered"]),
  }),
  tokens: z.object({
    accessToken: text,
    refreshToken: text.optional(),
    expiresAtMs: z.number().optional(),
    renewAtMs: z.number().optional(),
    scope: text.optional(),
    proofKey: z.object({ x: text, y: text, d: text }).optional(),
  }).optional(),
  tokenOrigin: text.optional(),
  audience: text.optional(),
  wantedScope: text.optional(),
  signedInAtMs: z.number().optional(),
});
const tokenFile = z.object({ version: z.literal(1), signIns: z.array(storedSignIn) });
const sealedFile = z.object({ version: z.literal(2), sealed: text });

export class SignInFile implements TokenStore {
  readonly #path: string;
  readonly #mutex = new KeyedMutex();
  readonly #listeners = new Set<() => void>();
  readonly #seal: Seal | undefined;
  #watch: FileWatch | undefined;

  /** `keychain`: keeps the key of the file, which nobody can read without; readable for its owner without one. */
  constructor(path: string, keychain?: TokenKeychain) {
    this.#path = path;
    this.#seal = keychain && new Seal(keychain, path);
  }

  async read(server: string): Promise<readonly StoredSignIn[]> {
    const { signIns, isSealed } = await this.#readAll();
    // Written before there was a keychain.
    if (this.#seal !== undefined && !isSealed && signIns.length > 0) await this.#edit((all) => all);
    return signIns.filter((each) => each.server === server);
  }

  /** Other changes of a sign-in at the same MCP server wait, those at other ones do not. */
  async update(
    key: SignInKey,
    change: (before: StoredSignIn | undefined) => Promise<StoredSignIn | undefined>,
  ): Promise<StoredSignIn | undefined> {
    const name = await lockName(key);
    return await this.#mutex.run(name, () =>
      this.#locked(name, async () => {
        const isKey = (each: StoredSignIn) => keyText(each) === keyText(key);
        const after = await change((await this.#readAll()).signIns.find(isKey));
        await this.#edit((signIns) => {
          const others = signIns.filter((each) => !isKey(each));
          return after === undefined ? others : [...others, after];
        });
        this.#tell();
        return after;
      }));
  }

  watch(listener: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#listeners.add(listener);
    // The version is not known yet: a listener that is told too often reads the file once more.
    this.#watch ??= new FileWatch([this.#path], {
      since: "",
      onChange: () => Promise.resolve(this.#tell()),
      intervalMs: LOOK_INTERVAL_MS,
    });
    signal.addEventListener("abort", () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      void this.#watch?.close();
      this.#watch = undefined;
    }, { once: true });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #edit(change: (signIns: readonly StoredSignIn[]) => readonly StoredSignIn[]): Promise<void> {
    await this.#mutex.run(
      "file",
      () => this.#locked("file", async () => await this.#writeAll(change((await this.#readAll()).signIns))),
    );
  }

  async #readAll(): Promise<{ readonly signIns: readonly StoredSignIn[]; readonly isSealed: boolean }> {
    const reading = await readRegularFile(this.#path, { maxBytes: MAX_FILE_BYTES });
    if ("text" in reading) {
      const sealed = sealedIn(reading.text);
      const content = sealed === undefined ? reading.text : await this.#open(sealed);
      return { signIns: parseFile(content, this.#path), isSealed: sealed !== undefined };
    }
    if (reading.cause instanceof Deno.errors.NotFound) return { signIns: [], isSealed: false };
    throw new TypeError(`Cannot read the sign-ins in "${this.#path}": ${reading.state}`, {
      cause: reading.cause,
    });
  }

  async #open(sealed: string): Promise<string> {
    if (this.#seal !== undefined) return await this.#seal.open(sealed);
    throw new TypeError(
      `Cannot read the sign-ins in "${this.#path}": a keychain has their key; start with --sign-ins as before`,
    );
  }

  async #writeAll(signIns: readonly StoredSignIn[]): Promise<void> {
    const content = `${JSON.stringify({ version: 1, signIns }, null, 2)}\n`;
    const bytes = new TextEncoder().encode(content);
    // What cannot be read again would cost all other sign-ins.
    if (bytes.length > MAX_FILE_BYTES || !tokenFile.safeParse(JSON.parse(content)).success) {
      throw new TypeError("Cannot store the sign-in: its tokens are too large or malformed");
    }
    const written = await this.#seal?.close(content) ?? content;
    await replaceFile(this.#path, written, { mode: 0o600 });
  }

  /** Holds the lock of a name among all processes. The system frees it when a process ends. */
  async #locked<T>(name: string, action: () => Promise<T>): Promise<T> {
    const folder = dirname(this.#path);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `.tokens-${name}.lock`);
    using file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    await file.lock(true);
    try {
      return await action();
    } finally {
      // Wine frees the lock and says that there was none; the end of the file frees it as well.
      await file.unlock().catch(() => {});
    }
  }
}

const IV_BYTES = 12;
const KEY_BYTES = 32;

/** Seals the texts of a file with AES-GCM. A key that was not needed yet is made. */
class Seal {
  readonly #keychain: TokenKeychain;
  readonly #path: string;
  #key: CryptoKey | undefined;

  constructor(keychain: TokenKeychain, path: string) {
    this.#keychain = keychain;
    this.#path = path;
  }

  async close(content: string): Promise<string> {
    const key = this.#key ??= await importKey(await this.#keychain.read() ?? await this.#make());
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const bytes = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv },
      key,
      new TextEncoder().encode(content),
    );
    const sealed = new Uint8Array([...iv, ...new Uint8Array(bytes)]).toBase64();
    return `${JSON.stringify({ version: 2, sealed }, null, 2)}\n`;
  }

  async open(sealed: string): Promise<string> {
    const written = this.#key ?? await this.#keychain.read();
    try {
      if (written === undefined) throw new TypeError("No key");
      const key = typeof written === "string" ? await importKey(written) : written;
      const bytes = Uint8Array.fromBase64(sealed);
      const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, IV_BYTES) };
      const content = await crypto.subtle.decrypt(algorithm, key, bytes.subarray(IV_BYTES));
      this.#key = key;
      return new TextDecoder().decode(content);
    } catch {
      const state = written === undefined ? "has no key for them" : "has another key";
      throw new TypeError(
        `Cannot read the sign-ins in "${this.#path}": ${this.#keychain.title} ${state}; ` +
          "unlock it or restore the key, or else remove the file and sign in again",
      );
    }
  }

  async #make(): Promise<string> {
    const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toBase64();
    await this.#keychain.write(key);
    // A key that is not there later would cost all sign-ins.
    if (await this.#keychain.read() === key) return key;
    throw new TypeError(`Cannot keep a key in ${this.#keychain.title}: it gave another one back`);
  }
}

async function importKey(key: string): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", Uint8Array.fromBase64(key), "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
}

function sealedIn(content: string): string | undefined {
  return sealedFile.safeParse(parseJson(content)).data?.sealed;
}

function parseFile(content: string, path: string): readonly StoredSignIn[] {
  try {
    return tokenFile.parse(JSON.parse(content)).signIns;
  } catch {
    // The cause is left out: it could quote tokens.
    throw new TypeError(
      `Cannot read the sign-ins in "${path}": invalid content; remove the file and sign in again`,
    );
  }
}

/**
 * By what the owner configures, so that no authorization server chooses an issuer to share the lock of another sign-in. There
 * is one file for each server that anybody has signed in at.
 */
async function lockName({ server, resource }: SignInKey): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([server, resource]));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", text)).subarray(0, LOCK_NAME_BYTES).toHex();
}
