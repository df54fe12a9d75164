/** What a child process sees of this process's environment. */

/**
 * Variables that are passed on. Tools need them to run, to find their files, and to get through a company's proxy
 * and certificates; everything else, credentials above all, stays here unless the configuration says `env`. So does
 * `XDG_RUNTIME_DIR`, where this user's sockets are, the Computer's own among them.
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

/** The environment of a child: the harmless part of ours, then what the configuration says. */
export function childEnvironment(
  own: Readonly<Record<string, string>>,
  configured: Readonly<Record<string, string>> | null,
): Record<string, string> {
  const inherited = Object.entries(own).filter(([name]) => INHERITED.has(name.toUpperCase()));
  return { ...Object.fromEntries(inherited), ...configured };
}
