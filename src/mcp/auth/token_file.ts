/** Sign-ins in one private file, which several processes share. */
import { dirname, join } from "@std/path";
import { z } from "zod";
import { readRegularFile, replaceFile } from "../../files/files.ts";
import { FileWatch } from "../../files/watched_files.ts";
import { KeyedMutex, keyText, type SignInKey, type StoredSignIn, type TokenStore } from "./token_store.ts";

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

export class SignInFile implements TokenStore {
  readonly #path: string;
  readonly #mutex = new KeyedMutex();
  readonly #listeners = new Set<() => void>();
  #watch: FileWatch | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async read(server: string): Promise<readonly StoredSignIn[]> {
    return (await this.#readAll()).filter((each) => each.server === server);
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
        const after = await change((await this.#readAll()).find(isKey));
        await this.#mutex.run("file", () =>
          this.#locked("file", async () => {
            const others = (await this.#readAll()).filter((each) => !isKey(each));
            await this.#writeAll(after === undefined ? others : [...others, after]);
          }));
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

  async #readAll(): Promise<readonly StoredSignIn[]> {
    const reading = await readRegularFile(this.#path, { maxBytes: MAX_FILE_BYTES });
    if ("text" in reading) return parseFile(reading.text, this.#path);
    if (reading.cause instanceof Deno.errors.NotFound) return [];
    throw new TypeError(`Cannot read the sign-ins in "${this.#path}": ${reading.state}`, {
      cause: reading.cause,
    });
  }

  async #writeAll(signIns: readonly StoredSignIn[]): Promise<void> {
    const content = `${JSON.stringify({ version: 1, signIns }, null, 2)}\n`;
    const bytes = new TextEncoder().encode(content);
    // What cannot be read again would cost all other sign-ins.
    if (bytes.length > MAX_FILE_BYTES || !tokenFile.safeParse(JSON.parse(content)).success) {
      throw new TypeError("Cannot store the sign-in: its tokens are too large or malformed");
    }
    await replaceFile(this.#path, bytes, { mode: 0o600 });
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
      await file.unlock();
    }
  }
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
