/**
 * Runs an MCP server of the configuration in a sandbox: one from npm as a program of Deno with the permissions of its entry,
 * any other in bubblewrap, on Linux (`docs/configuration.md#sandbox`). What cannot be limited as it is written is refused.
 */
import { basename, dirname, join, relative } from "@std/path";
import type { SandboxSettings } from "../../protocol/config.ts";
import { stateFolder } from "../../files/state_folder.ts";
import { readVariable, socketFolders } from "../../files/user_sockets.ts";
import { ConfigurationError } from "../errors.ts";
import { findProgram, type SpawnOptions } from "./spawn.ts";

/** How a program is started. */
export interface SandboxedProgram extends SpawnOptions {
  readonly command: string;
}

/** The machine on which it runs. */
export interface SandboxSystem {
  readonly os: typeof Deno.build.os;
  /** The path of Deno. */
  readonly deno: string;
  /** The path of bubblewrap, wherever the variables of the program lead. */
  readonly bubblewrap: string | undefined;
  /** Folders of the user's own programs, with sockets that take any command, sign-ins and keys: no sandbox shows them. */
  readonly hidden: readonly string[];
  /** Finds a program; `undefined` when there is none of that name. */
  find(command: string): string | undefined;
  /** Where a path leads, past links; `undefined` when nothing is there. */
  look(path: string): { readonly path: string; readonly kind: "file" | "folder" } | undefined;
}

/** In a list, everything. */
const ALL = "*";
/** `--no-remote`: an import could send anything to the hosts that Deno imports from. */
const DENO_OPTIONS = [
  ...["--no-prompt", "--no-config", "--no-lock", "--no-remote", "--node-modules-dir=none", "--quiet"],
];
const NPM_SPEC = /^(?:npm:\/?)?((?:@[\w-][\w.-]*\/)?[\w-][\w.-]*(?:@[\w.^~<>=*-]+)?)$/;
/** Options of `npx` that change nothing of what runs. */
const NPX_OPTIONS: readonly string[] = ["-y", "--yes", "-q", "--quiet", "--prefer-offline", "--no-install"];
/** What programs need of a system besides their own files, and what has no secrets. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"].concat(
  [
    "alternatives",
    "ld.so.cache",
    "ssl/certs",
    "ssl/openssl.cnf",
    "pki/ca-trust",
    "pki/tls/certs",
    "localtime",
  ].map((name) => `/etc/${name}`),
);
const NETWORK = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/run/systemd/resolve"];
/** Variables that act before the sandbox does: code that is loaded, files that are written, permissions from elsewhere. */
const OUTSIDE = /^(?:LD_|DYLD_|OTEL_DENO|DENO_(?!DIR$|CERT$|TLS_CA_STORE$|NO_UPDATE_CHECK$))/i;
/** The variables of a program in bubblewrap, besides those of its entry. */
const PLAIN_VARIABLES = ["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "USER", "LOGNAME"];

/**
 * The program that runs another one in its sandbox.
 *
 * @param program with the whole environment that it would have without a sandbox
 * @throws {ConfigurationError} it cannot run so on this machine.
 */
export function sandboxed(program: SandboxedProgram, parts: SandboxParts): SandboxedProgram {
  const { command, args } = program;
  const outside = parts.own.find((variable) => OUTSIDE.test(variable));
  if (outside !== undefined) throw refused(`its variable "${outside}" would act outside of it; remove it`);
  const name = basename(command).replace(/\.(?:cmd|exe)$/i, "");
  const words = name === "npx" ? ofNpx(args) : name === "deno" ? ofDeno(args) : undefined;
  return words === undefined ? inBubblewrap(program, parts) : inDeno(program, { ...parts, words });
}

export interface SandboxParts {
  readonly sandbox: SandboxSettings;
  /** The names of the variables that its entry sets: it may read those. */
  readonly own: readonly string[];
  readonly system: SandboxSystem;
}

function inDeno(program: SandboxedProgram, { sandbox, own, system, words }: SandboxParts & {
  readonly words: readonly string[];
}): SandboxedProgram {
  const { env } = sandbox;
  const isOpen = env?.includes(ALL) === true;
  const denied = deniedInDeno(sandbox, system);
  const args = [
    "run",
    ...DENO_OPTIONS,
    // Of other variables, a program sees nothing, in place of an error that ends many.
    ...(isOpen ? [] : ["--ignore-env"]),
    ...permission("read", [...sandbox.read ?? [], ...sandbox.write ?? []]),
    ...permission("write", sandbox.write),
    ...permission("net", sandbox.net),
    ...permission("env", isOpen ? [ALL] : [...env ?? [], ...own]),
    ...permission("run", sandbox.run),
    ...permission("ffi", sandbox.ffi),
    ...(denied.length > 0 ? ["read", "write"].map((name) => `--deny-${name}=${listed(denied)}`) : []),
    ...words,
  ];
  return { ...program, command: system.deno, args };
}

/** Deno compares paths as they are written. */
function deniedInDeno(sandbox: SandboxSettings, system: SandboxSystem): string[] {
  const { deny_read, write } = sandbox;
  if (deny_read?.length && system.os !== "linux") {
    throw refused('"deny_read" does not hold for other names of a file on this system; use "read"');
  }
  const real = (path: string) => system.look(path)?.path ?? path;
  // A folder between the two can be renamed, and with `"*"` a link can be made.
  const isMovable = (path: string, folder: string) =>
    folder === ALL || (isWithin(path, folder) && ![path, dirname(path)].includes(folder));
  const moved = deny_read?.find((path) => write?.some((folder) => isMovable(real(path), real(folder))));
  if (moved !== undefined) {
    throw refused(
      `"${moved}" of "deny_read" can be moved, because it is in "write"; list other folders there`,
    );
  }
  return [...new Set([...system.hidden, ...deny_read ?? [], ...deniedPaths(sandbox, system)])];
}

/** What may not be read, past links and under each name that a listed folder gives it. */
function deniedPaths(
  { deny_read, read, write }: SandboxSettings,
  { hidden, look }: SandboxSystem,
): Set<string> {
  const real = (path: string) => look(path)?.path ?? path;
  const folders = [...read ?? [], ...write ?? []].filter((folder) => folder !== ALL)
    .map((folder) => ({ folder, place: real(folder) }));
  return new Set(
    [...hidden, ...deny_read ?? []].map(real).flatMap((path) => [
      path,
      ...folders.filter(({ place }) => isWithin(path, place))
        .map(({ folder, place }) => join(folder, relative(place, path))),
    ]),
  );
}

/** This machine, as a program with this environment and folder finds others there. */
export function thisSystem({ env: { PATH: path = "", PATHEXT }, cwd = "." }: SpawnOptions): SandboxSystem {
  const find = (command: string, path: string) =>
    findProgram(command, { path, cwd, extensions: PATHEXT }).found;
  return {
    os: Deno.build.os,
    deno: Deno.execPath(),
    bubblewrap: find("bwrap", readVariable("PATH") ?? ""),
    hidden: [...socketFolders(), stateFolder()].filter((folder) => folder !== undefined),
    find: (command) => find(command, path),
    look(path) {
      try {
        const kind = Deno.statSync(path).isDirectory ? "folder" : "file";
        return { path: Deno.realPathSync(path), kind };
      } catch {
        return undefined;
      }
    },
  };
}

function permission(name: string, values: readonly string[] | null | undefined): string[] {
  if (!values?.length) return [];
  return [values.includes(ALL) ? `--allow-${name}` : `--allow-${name}=${listed(values)}`];
}

/** Deno 2.9.6 knows no way to write a comma of a value. */
function listed(values: readonly string[]): string {
  const split = values.find((value) => value.includes(","));
  if (split !== undefined) {
    throw refused(`Deno takes no path or name with a comma: "${split}"; use another, or remove "sandbox"`);
  }
  return values.join(",");
}

/** The package of `npx`, as Deno runs it, and the arguments of the program. */
function ofNpx(args: readonly string[]): string[] {
  let named: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const [, given] = /^--package=(.*)$/.exec(word) ?? [];
    if (word === "-p" || word === "--package") named = args[++at];
    else if (given !== undefined) named = given;
    else if (word !== "--" && !NPX_OPTIONS.includes(word)) {
      if (word.startsWith("-")) throw refused(`its option "${word}" of npx cannot be used there; remove it`);
      const program = named === undefined ? npmSpec(word) : `${npmSpec(named)}/${word}`;
      return [program, ...args.slice(at + 1)];
    }
  }
  throw refused('its "args" name no package; write ["-y", "PACKAGE"]');
}

/** `deno run npm:…`, whose permissions those of the sandbox replace; `undefined` for any other use of Deno. */
function ofDeno([verb, ...args]: readonly string[]): string[] | undefined {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const spec = args[at];
  if (verb !== "run" || spec === undefined || !spec.startsWith("npm:")) return undefined;
  const other = args.slice(0, at).find((word) =>
    !/^(?:-[qyARWNESI]+|--quiet|--no-(?:prompt|lock|config|remote)|--(?:allow|deny|ignore)-.*|-[RWNESI]=.*)$/
      .test(word)
  );
  if (other !== undefined) throw refused(`its option "${other}" of Deno cannot be used there; remove it`);
  const [, name = "", program = ""] = /^(npm:\/?(?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(spec) ?? [];
  return [`${npmSpec(name)}${program}`, ...args.slice(at + 1)];
}

function npmSpec(name: string): string {
  const [, spec] = NPM_SPEC.exec(name) ?? [];
  if (spec !== undefined) return `npm:${spec}`;
  throw refused(`"${name}" is no package of npm by its name; write NAME or NAME@VERSION`);
}

function inBubblewrap(program: SandboxedProgram, { sandbox, own, system }: SandboxParts): SandboxedProgram {
  const { command, args, env, cwd } = program;
  if (system.os !== "linux") {
    throw refused(
      'only MCP servers from npm ("npx", "deno run npm:…") have one on this system; remove "sandbox"',
    );
  }
  if (system.bubblewrap === undefined) {
    throw refused(
      'bubblewrap (bwrap) is not installed; run "apt-get install bubblewrap", or remove "sandbox"',
    );
  }
  const path = system.find(command);
  if (path === undefined) throw refused(`there is no program "${command}"; write its full path`);
  const isConnected = sandbox.net?.includes(ALL) === true;
  if (!isConnected && sandbox.net?.length) {
    throw refused('bubblewrap cannot limit "net" to hosts; write "net": ["*"] or "net": []');
  }
  const { read = [], write = [] } = sandbox;
  const files = [...read ?? [], ...write ?? []];
  if (cwd !== undefined && !files.some((file) => file === ALL || isWithin(cwd, file))) {
    throw refused(`its working directory "${cwd}" is outside; add it to "read"`);
  }
  const options = [
    ...["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", ...(isConnected ? ["--share-net"] : [])],
    ...mounts({ sandbox, path, home: env["HOME"], isConnected, system }),
    ...["--chdir", cwd ?? "/tmp"],
  ];
  const shown = new Set([...PLAIN_VARIABLES, ...own, ...sandbox.env ?? []]);
  const variables = Object.entries(env).filter(([name]) => shown.has(name) || shown.has(ALL));
  const words = [...options, "--", path, ...args];
  return { command: system.bubblewrap, args: words, env: Object.fromEntries(variables), cwd: undefined };
}

/** Later mounts cover earlier ones. Sockets under /run and /tmp would lead out of the sandbox. */
function mounts({ sandbox, path, home, isConnected, system }: {
  readonly system: SandboxSystem;
  readonly sandbox: SandboxSettings;
  readonly path: string;
  readonly home: string | undefined;
  readonly isConnected: boolean;
}): string[] {
  const { read, write } = sandbox;
  const bind = (how: string, files: readonly string[]) => files.flatMap((file) => [how, file, file]);
  const isAllRead = read?.includes(ALL) === true;
  const isAllWritten = write?.includes(ALL) === true;
  const whole = isAllWritten ? ["--bind", "/", "/"] : isAllRead ? ["--ro-bind", "/", "/"] : [];
  const own = whole.length > 0 ? [] : [
    ...bind("--ro-bind-try", SYSTEM),
    ...(home === undefined ? [] : ["--tmpfs", home]),
    ...bind("--ro-bind", [path]),
  ];
  return [
    ...whole,
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run"],
    ...own,
    ...(isConnected ? bind("--ro-bind-try", NETWORK) : []),
    ...bind("--ro-bind", (read ?? []).filter((file) => file !== ALL)),
    ...bind("--bind", (write ?? []).filter((file) => file !== ALL)),
    ...[...deniedPaths(sandbox, system)].flatMap((file) => {
      const kind = system.look(file)?.kind;
      if (kind === undefined) return [];
      return kind === "folder" ? ["--tmpfs", file] : ["--ro-bind", "/dev/null", file];
    }),
  ];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(join(folder, "/"));
}

function refused(why: string): ConfigurationError {
  return new ConfigurationError(`Cannot start the program in a sandbox: ${why}`, {
    reason: "it cannot run in its sandbox",
  });
}

/** What a sandbox lets its program reach, in words. */
export function sandboxText({ read, write, net, env, run, ffi, deny_read }: SandboxSettings): string {
  const list = (values: readonly string[] | null | undefined, what: string) => {
    if (!values?.length) return "nothing";
    return values.includes(ALL) ? what : values.join(", ");
  };
  const but = deny_read?.length ? ` but ${deny_read.join(", ")}` : "";
  return [
    `reads ${list(read, "all files")}${but}`,
    `writes ${list(write, "all files")}`,
    `connects to ${list(net, "all hosts")}`,
    `variables: ${list(env, "all")}`,
    ...(run?.length ? [`starts ${list(run, "all programs")}, which are not limited`] : []),
    ...(ffi?.length ? [`loads ${list(ffi, "all libraries")}, which are not limited`] : []),
  ].join("; ");
}
