/** Where sign-ins at authorization servers are kept: an interface for host programs, and a store in memory. */

/** What a sign-in belongs to. A change of any member makes it another sign-in. */
export interface SignInKey {
  /** The name of the MCP server. */
  readonly server: string;
  /** The URL of the MCP server as configured, without user information, query and fragment. */
  readonly resource: string;
  /** The issuer of the authorization server. */
  readonly issuer: string;
}

/** The client that an authorization server knows this Computer as. */
export interface OAuthClient {
  /** Its `client_id`. */
  readonly clientId: string;
  /** Its secret, if the authorization server gave one. A configured secret is never stored. */
  readonly clientSecret?: string | undefined;
  /** When the secret ends, in milliseconds since 1970; never when absent. */
  readonly secretExpiresAtMs?: number | undefined;
  /** How it authenticates, such as `none` or `client_secret_basic`. */
  readonly authMethod?: string | undefined;
  /** Where browsers are sent after a sign-in of a registered client. */
  readonly redirectUri?: string | undefined;
  /** Where it comes from: the configuration, its metadata document, or a registration by this Computer. */
  readonly source: "configured" | "document" | "registered";
}

/** The private key of bound tokens (DPoP, RFC 9449): the members of a JSON Web Key on the curve P-256. */
export interface ProofKey {
  /** The public part. */
  readonly x: string;
  /** The public part. */
  readonly y: string;
  /** The private part. */
  readonly d: string;
}

/** The tokens of a sign-in. */
export interface OAuthTokens {
  /** Sent to the MCP server. */
  readonly accessToken: string;
  /** Sent to the authorization server alone. */
  readonly refreshToken?: string | undefined;
  /** By the clock of this machine, in milliseconds since 1970; unknown when absent. */
  readonly expiresAtMs?: number | undefined;
  /** When they are renewed, in milliseconds since 1970; after a refusal when absent. */
  readonly renewAtMs?: number | undefined;
  /** The granted scopes, separated by spaces. */
  readonly scope?: string | undefined;
  /** The key that they are bound to; whoever has them can use them when absent. */
  readonly proofKey?: ProofKey | undefined;
}

/** A sign-in as it is stored. */
export interface StoredSignIn extends SignInKey {
  /** The client that signed in. It stays after a sign-out: it is bound to this issuer. */
  readonly client: OAuthClient;
  /** Absent after a sign-out, and when they were revoked. */
  readonly tokens?: OAuthTokens | undefined;
  /** The origin that gave the tokens: they are renewed there, or at the issuer's own. */
  readonly tokenOrigin?: string | undefined;
  /** The resource indicator that the tokens were issued for. */
  readonly audience?: string | undefined;
  /** Scopes that the next sign-in asks for besides the usual ones, separated by spaces. */
  readonly wantedScope?: string | undefined;
  /** When the user signed in last, in milliseconds since 1970. */
  readonly signedInAtMs?: number | undefined;
}

/** Keeps sign-ins. A host program may give its own, such as one on the keychain of the system. */
export interface TokenStore {
  /** All sign-ins of an MCP server; an empty list for an unknown one. */
  read(server: string): Promise<readonly StoredSignIn[]>;
  /**
   * Replaces one sign-in. Until `change` has settled, no other call or process changes the same sign-in. What `change`
   * returns is stored; `undefined` deletes it. When `change` throws, nothing is stored.
   *
   * @returns What is stored now.
   */
  update(
    key: SignInKey,
    change: (before: StoredSignIn | undefined) => Promise<StoredSignIn | undefined>,
  ): Promise<StoredSignIn | undefined>;
  /** Calls `listener` after each change, also by another process where the store is shared. Ends with the signal. */
  watch(listener: () => void, signal: AbortSignal): void;
}

/** Keeps one key, with which a file of sign-ins is sealed; such as the keychain of the system. */
export interface TokenKeychain {
  /** What it is called in messages, such as `the keychain`. */
  readonly title: string;
  /** The key; `undefined` where none was written. Throws when it cannot be read now, such as while it is locked. */
  read(): Promise<string | undefined>;
  /** Keeps a new key. */
  write(key: string): Promise<void>;
}

/** A store that ends with its process. */
export function memoryTokenStore(): TokenStore {
  const kept = new Map<string, StoredSignIn>();
  const mutex = new KeyedMutex();
  const listeners = new Set<() => void>();
  return {
    read: (server) => Promise.resolve([...kept.values()].filter((each) => each.server === server)),
    update: (key, change) =>
      mutex.run(keyText(key), async () => {
        const after = await change(kept.get(keyText(key)));
        if (after === undefined) kept.delete(keyText(key));
        else kept.set(keyText(key), after);
        for (const listener of listeners) listener();
        return after;
      }),
    watch(listener, signal) {
      if (signal.aborted) return;
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
    },
  };
}

/** One text for a key; different keys have different texts. */
export function keyText({ server, resource, issuer }: SignInKey): string {
  return JSON.stringify([server, resource, issuer]);
}

/** Runs actions with the same key one after the other, in the order of their calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const own = Promise.resolve(before).catch(() => {}).then(action);
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }
}
