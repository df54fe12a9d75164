/** The names of the Server's options: types do not stop a caller in JavaScript, nor one that builds its options elsewhere. */
import { didYouMean } from "../spelling.ts";
import type { ListenOptions, SmcpServerOptions } from "./options.ts";

const OPTION_NAMES: Readonly<Record<keyof SmcpServerOptions, true>> = {
  auth: true,
  allowAnonymous: true,
  acceptedVersions: true,
  allowUnversioned: true,
  allowedOrigins: true,
  allowedHosts: true,
  trustedProxies: true,
  transports: true,
  path: true,
  maxPayloadBytes: true,
  pingIntervalMs: true,
  pingTimeoutMs: true,
  connectTimeoutMs: true,
  authTimeoutMs: true,
  maxPendingConnections: true,
  maxPendingConnectionsPerAddress: true,
  maxOpenRequests: true,
  maxConnectionsPerPrincipal: true,
  maxConnectionsPerAddress: true,
  maxConnectsPerPrincipal: true,
  maxConnectsPerAddress: true,
  maxRequestsPerPrincipal: true,
  maxRequestsPerAddress: true,
  maxOffices: true,
  maxOfficesPerPrincipal: true,
  maxMessageMemoryBytes: true,
  maxMembersPerOffice: true,
  graceMs: true,
  redis: true,
  metrics: true,
  countLostAuditLines: true,
  logger: true,
};
const LISTEN_OPTION_NAMES: Readonly<Record<keyof ListenOptions, true>> = {
  ...OPTION_NAMES,
  host: true,
  port: true,
  tls: true,
  maxSockets: true,
  headTimeoutMs: true,
  metricsPort: true,
  metricsHost: true,
  metricsToken: true,
  signal: true,
};

export function isListenOption(name: string): boolean {
  return Object.hasOwn(LISTEN_OPTION_NAMES, name);
}

/**
 * Refuses options that do not exist: a Server whose `auth` is misspelt would admit everybody.
 *
 * @param isListening Whether the Server has its own HTTP server.
 * @throws {TypeError} for an unknown option, with the closest known one.
 */
export function requireKnownOptions(
  options: object,
  { isListening }: { readonly isListening: boolean },
): void {
  const known = Object.keys(isListening ? LISTEN_OPTION_NAMES : OPTION_NAMES);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(
    `Cannot use the option "${unknown}" of the Server: unknown${didYouMean(unknown, known)}`,
  );
}
