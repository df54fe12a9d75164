/** The environment of a child process. */

/**
 * The variables that a child inherits: tools need them to run, to find their files, and for proxies and certificates. All
 * others, credentials above all, must be set in `env` of the configuration. `XDG_RUNTIME_DIR` is one of them, since it
 * holds the sockets of this user, including that of the Computer.
 */
const INHERITED = new Set([
  "HOME",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "USER",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "DENO_DIR",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "PIP_CERT",
  "PIP_INDEX_URL",
  "UV_INDEX_URL",
  "UV_DEFAULT_INDEX",
  "NPM_CONFIG_REGISTRY",
  "NPM_CONFIG_CACHE",
  // Windows
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
]);

/**
 * Builds the environment of a child: the inherited variables, overridden by the configured ones. Names are in capitals on
 * Windows, which knows one variable for `Path` and `PATH`.
 */
export function childEnvironment(
  own: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>> | null,
): Record<string, string> {
  const inherited = Object.entries(own).filter(([name]) => INHERITED.has(name.toUpperCase()));
  const all = [...inherited, ...Object.entries(configured ?? {})];
  if (Deno.build.os !== "windows") return Object.fromEntries(all);
  return Object.fromEntries(all.map(([name, value]) => [name.toUpperCase(), value]));
}
