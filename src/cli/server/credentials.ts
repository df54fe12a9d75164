/** The options of the Server's program that say which clients are admitted. */
import { Option } from "commander";
import type { Logger } from "../../log.ts";
import {
  DEFAULT_TOKEN_FIELD,
  DEFAULT_TOKEN_HEADERS,
  type TokenPlace,
} from "../../server/auth/presented_token.ts";
import type { AuthProvider } from "../../server/auth/provider.ts";
import { FileContentError } from "../../server/auth/file_content.ts";
import { collect } from "../options.ts";
import { UsageError } from "../outcome.ts";

/** The values of {@linkcode credentialOptions}. */
export interface CredentialOptions {
  readonly token?: readonly string[];
  readonly tokenFile?: string;
  readonly authField: string;
  readonly authHeader?: readonly string[];
}

/** `--token`, `--token-file`, and where clients put their token. */
export function credentialOptions(): readonly Option[] {
  return [
    new Option("--token <token>", "accept clients with this token; repeatable").argParser(collect)
      .env("A2C_TOKEN"),
    new Option(
      "--token-file <file>",
      "accept the tokens in this file, one per line, each with the offices and roles that it may use; " +
        "read again when it changes",
    ).env("A2C_TOKEN_FILE"),
    new Option("--auth-field <name>", "the auth field that carries the token").default(DEFAULT_TOKEN_FIELD)
      .env("A2C_AUTH_FIELD"),
    new Option(
      "--auth-header <name>",
      "the HTTP header that carries the token of clients without that field; repeatable " +
        `(default: ${DEFAULT_TOKEN_HEADERS.join(", ")})`,
    ).argParser(collect).env("A2C_AUTH_HEADER"),
  ];
}

/** What decides who may connect, and the files that it watches. */
export interface OpenedAuth extends AsyncDisposable {
  /** `undefined` without any credentials. */
  readonly auth: AuthProvider | undefined;
}

/**
 * Opens the provider of these options.
 *
 * @throws {UsageError} when a token or a file cannot be used.
 */
export async function openAuth(options: CredentialOptions, logger: Logger): Promise<OpenedAuth> {
  const { token: tokens, tokenFile, authField: field, authHeader: header } = options;
  const place: TokenPlace = { field, header };
  // Loaded only now, so that --help and a wrong command line are fast.
  const { staticTokens, TokenFile } = await import("../../server/auth/static_tokens.ts");
  try {
    if (tokenFile !== undefined) {
      const file = await TokenFile.open(tokenFile, { ...place, tokens, logger });
      return { auth: file, [Symbol.asyncDispose]: () => file.close() };
    }
    return {
      auth: tokens === undefined ? undefined : staticTokens({ ...place, tokens }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  } catch (error) {
    if (!(error instanceof FileContentError || error instanceof TypeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
