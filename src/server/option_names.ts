/** The names of the Server's options: types do not stop a caller in JavaScript, nor one that builds its options elsewhere. */
import { didYouMean } from "../spelling.ts";
import { NUMBER_OPTION_NAMES, type NumberOption } from "./number_options.ts";
import type { ListenOptions, SmcpServerOptions } from "./options.ts";

const OTHER_NAMES: Readonly<Record<Exclude<keyof SmcpServerOptions, NumberOption>, true>> = {
  auth: true,
  allowAnonymous: true,
  acceptedVersions: true,
  allowUnversioned: true,
  allowedOrigins: true,
  allowedHosts: true,
  trustedProxies: true,
  transports: true,
  path: true,
  redis: true,
  metrics: true,
  countLostAuditLines: true,
  logger: true,
};
const LISTEN_NAMES: Readonly<Record<Exclude<keyof ListenOptions, keyof SmcpServerOptions>, true>> = {
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
const NAMES: readonly string[] = [
  ...new Set([...NUMBER_OPTION_NAMES, ...Object.keys(OTHER_NAMES), ...Object.keys(LISTEN_NAMES)]),
];

export function isListenOption(name: string): boolean {
  return NAMES.includes(name);
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
  const known = NAMES.filter((name) => isListening || !Object.hasOwn(LISTEN_NAMES, name));
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(
    `Cannot use the option "${unknown}" of the Server: unknown${didYouMean(unknown, known)}`,
  );
}
