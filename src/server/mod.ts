/**
 * The Server: the hub of A2C-SMCP. It keeps offices, relays an Agent's requests to the Computers of its office, and
 * tells the office what changed.
 *
 * ```ts
 * import { SmcpServer, staticTokens } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
 * console.log(`listening on ${server.url}`);
 * ```
 *
 * It needs the network (`--allow-net`).
 *
 * @module
 */
export type { LogFields, Logger } from "../log.ts";
export {
  anonymous,
  type AuthDecision,
  type AuthProvider,
  type Credentials,
  staticTokens,
  type StaticTokensOptions,
} from "./admission/auth.ts";
export { ListenError } from "./sockets/listening.ts";
export type { ListenOptions, SmcpServerOptions } from "./options.ts";
export { SmcpServer } from "./server.ts";
