/** The sign-ins of a Computer at its MCP servers. What OAuth needs is loaded with the first use. */
import type { ComputerConfig } from "../config/config.ts";
import type { Logger } from "../log.ts";
import type { ServerAuthorization } from "../mcp/auth/server_authorization.ts";
import type { SignIn, SignInOptions, SignInStatus, SignOutResult } from "../mcp/auth/sign_in.ts";
import type { SignIns } from "../mcp/auth/sign_ins.ts";
import type { TokenKeychain, TokenStore } from "../mcp/auth/token_store.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { unknownName } from "../text/spelling.ts";
import type { InputSource } from "./inputs/sources.ts";

/** What sign-ins need from their Computer. */
export interface SignInsOptions {
  /** The configuration of now. */
  readonly config: () => ComputerConfig;
  /** The name of an MCP server in the configuration, under which its tokens are kept; the given name by default. */
  readonly nameOf?: ((server: string) => string) | undefined;
  /** Returns the value of an input, as for a start of the MCP server. */
  readonly inputs: InputSource;
  /** Keeps the tokens. */
  readonly tokens: TokenStore;
  /** Told of each token and secret of a server, so that logs and answers do not show them. */
  readonly learn?: ((server: string, secrets: readonly string[]) => void) | undefined;
  /** Receives log records. */
  readonly log: Logger;
}

/**
 * Signs in at the MCP servers of a Computer, and out again. No session is needed; a running one notices by itself.
 *
 * @example
 * ```ts
 * import { assertRejects } from "@std/assert";
 * import { Computer } from "@a2c-smcp/sdk/computer";
 *
 * const shop = { type: "stdio", disabled: true, server_parameters: { command: "shop-mcp-server" } };
 * await using computer = Computer.open({ name: "laptop", config: { servers: { shop } } });
 * await assertRejects(() => computer.signIns.start("shop"), TypeError, "a program");
 * ```
 */
export interface ComputerSignIns {
  /**
   * Begins a sign-in at an MCP server.
   *
   * @throws {TypeError} for an unknown server, and one that nobody signs in at.
   * @throws {SignInError} when the sign-in cannot begin; the message says what to do.
   */
  start(server: string, options?: SignInOptions): Promise<SignIn>;

  /** The state of the sign-in at an MCP server, without any token. Throws for the name as `start` does. */
  status(server: string, options?: { readonly signal?: AbortSignal }): Promise<SignInStatus>;

  /** Forgets the tokens of an MCP server, and has them revoked where that is possible. Throws for the name as `start` does. */
  signOut(server: string, options?: { readonly signal?: AbortSignal }): Promise<SignOutResult>;

  /** The port to listen at for the browser: the configured one, else that of the last sign-in, if any. */
  redirectPort(server: string): Promise<number | undefined>;
}

export class HostSignIns implements ComputerSignIns {
  readonly #options: SignInsOptions;
  readonly #nameOf: (server: string) => string;
  #loading: Promise<SignIns> | undefined;

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.#nameOf = options.nameOf ?? ((server) => server);
  }

  async start(server: string, options: SignInOptions = {}): Promise<SignIn> {
    return (await this.#load()).start(this.#nameOf(server), options);
  }

  async status(server: string, options: { readonly signal?: AbortSignal } = {}): Promise<SignInStatus> {
    return (await this.#load()).status(this.#nameOf(server), options);
  }

  async signOut(server: string, options: { readonly signal?: AbortSignal } = {}): Promise<SignOutResult> {
    return (await this.#load()).signOut(this.#nameOf(server), options);
  }

  async redirectPort(server: string): Promise<number | undefined> {
    return (await this.#load()).redirectPort(this.#nameOf(server));
  }

  /** What a session with a server on the network is signed in with, until the signal ends it. */
  async authorize(
    config: ResolvedServerConfig,
    signal: AbortSignal,
  ): Promise<ServerAuthorization | undefined> {
    if (config.type === "stdio" || config.oauth === false) return undefined;
    return (await this.#load()).authorize({ ...config, name: this.#nameOf(config.name) }, signal);
  }

  #load(): Promise<SignIns> {
    const { tokens: store, learn = () => {}, log } = this.#options;
    const now = () => Date.now();
    const resolve = (server: string, signal?: AbortSignal) => this.#resolve(server, signal);
    return this.#loading ??= import("../mcp/auth/sign_ins.ts")
      .then(({ SignIns }) => new SignIns({ store, learn, log, now, resolve }));
  }

  async #resolve(name: string, signal = new AbortController().signal): Promise<ResolvedServerConfig> {
    const { config, inputs: source } = this.#options;
    const { servers, inputs } = config();
    const server = servers.find((each) => each.name === name);
    if (server === undefined) {
      throw new TypeError(unknownName("server", name, servers.map((each) => each.name)));
    }
    const { resolveInputs } = await import("./inputs/resolve.ts");
    return await resolveInputs(server, { inputs, source, signal });
  }
}

/** The sign-ins of a configuration without a running Computer. */
export function openSignIns(
  { config, ...options }: Omit<SignInsOptions, "config"> & { readonly config: ComputerConfig },
): ComputerSignIns {
  return new HostSignIns({ ...options, config: () => config });
}

/**
 * A store in a file that only this user can read. The file and its folder are created with the first sign-in. Needs
 * `--allow-read` and `--allow-write` for the folder.
 *
 * @param path The file, such as `tokens.json` in the state folder of a program.
 * @param keychain Keeps a key, with which the file is sealed; the sign-ins in it are readable as text without one.
 */
export function fileTokenStore(path: string, keychain?: TokenKeychain): TokenStore {
  let loading: Promise<TokenStore> | undefined;
  const load = () =>
    loading ??= import("../mcp/auth/token_file.ts").then(({ SignInFile }) => new SignInFile(path, keychain));
  return {
    read: async (server) => await (await load()).read(server),
    update: async (key, change) => await (await load()).update(key, change),
    watch: (listener, signal) => void load().then((store) => store.watch(listener, signal)),
  };
}
