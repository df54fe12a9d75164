/**
 * The Server: the relay of A2C-SMCP. It keeps offices, relays an Agent's requests to the Computers of its office, and
 * notifies the office of changes.
 *
 * ```ts
 * import { SmcpServer, staticTokens } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
 * console.log(`listening on ${server.url}`);
 * ```
 *
 * The Server as a program needs the network, and only those environment variables that options come from. `--help`
 * lists the options.
 *
 * ```sh
 * deno run --allow-net --ignore-env server.ts --host 127.0.0.1 --port 3000
 * deno run --allow-net --ignore-env --allow-env=PORT,A2C_TOKEN server.ts --host 0.0.0.0
 * deno run --allow-net --ignore-env --allow-read=tokens.txt server.ts --host 0.0.0.0 --token-file tokens.txt
 * ```
 *
 * @module
 */
export type { LogFields, Logger } from "./src/log.ts";
export type { Grant, GrantedRole } from "./src/server/admission/provider.ts";
export {
  type Admission,
  anonymous,
  anyOf,
  type AuthDecision,
  type AuthProvider,
  type AuthRefusal,
  type Credentials,
  type CredentialsEnd,
  CredentialsEndedError,
  type TokenPlace,
} from "./src/server/admission/provider.ts";
export {
  type ClaimOptions,
  type JwtKeyOptions,
  type JwtOptions,
  JwtTokens,
} from "./src/server/admission/jwt.ts";
export {
  staticTokens,
  type StaticTokensOptions,
  TokenFile,
  type TokenFileOptions,
} from "./src/server/admission/tokens.ts";
export type { StaticToken } from "./src/server/admission/token_list.ts";
export { FileContentError } from "./src/files/watched_files.ts";
export { ListenError } from "./src/http/listening.ts";
export type { RedisOptions } from "./src/server/offices/redis/settings.ts";
export type { TlsOptions } from "./src/http/tls.ts";
export type { ListenOptions, SmcpServerOptions } from "./src/server/options/settings.ts";
export { SmcpServer } from "./src/server/server.ts";

if (import.meta.main) {
  const { runServerCli } = await import("./src/cli/server/main.ts");
  Deno.exit(await runServerCli(Deno.args));
}
