/**
 * Makes what people install without npm: `deno run -A tools/archives.ts FOLDER [SYSTEM…]` writes into the folder an archive
 * for each system, `a2c-smcp-VERSION-SYSTEM.tar.gz` or `.zip`, the bundles that `tools/bundles.ts` makes of the same files,
 * and `SHA256SUMS`.
 *
 * An archive holds Deno's executable, as its npm package has it, the programs with everything that they import, and a
 * launcher. It needs no installation and no network.
 *
 * @module
 */

import { basename, join, resolve } from "@std/path";
import manifest from "../deno.json" with { type: "json" };
import { BUNDLE_SYSTEMS, packBundles } from "./bundles.ts";
import { buildNpmPackages } from "./npm.ts";
import { run, succeed } from "./deno.ts";
import { DENO_SYSTEMS, DENO_VERSION, WINDOWS_DENO, WINDOWS_FOLDER, zip } from "./npm_parts.ts";
import { buildProgram } from "./program.ts";

type System = typeof DENO_SYSTEMS[number];

const PROGRAM = "lib/node_modules/a2c-smcp/node_modules/@a2c-smcp/sdk/cli.js";

const LAUNCHER = `#!/bin/sh
# Starts the programs of A2C-SMCP by the Deno beside them.
here=$(dirname "$(readlink -f "$0")")
DENO_NO_UPDATE_CHECK=1 exec "$here/lib/deno" run -A --node-modules-dir=manual "$here/${PROGRAM}" "$@"
`;

const WINDOWS_LAUNCHER = `@echo off
rem Starts the programs of A2C-SMCP by the Deno beside them.
setlocal
set DENO_NO_UPDATE_CHECK=1
"%~dp0${WINDOWS_DENO}" run -A --node-modules-dir=manual "%~dp0${PROGRAM.replaceAll("/", "\\")}" %*
`.replaceAll("\n", "\r\n");

/** What an archive is called without its ending. */
export function archiveName(system: System): string {
  return `a2c-smcp-${manifest.version}-${knownAs(system)}`;
}

/** The name that people know their system by. */
export function knownAs(system: System): string {
  return system.replace("-glibc", "").replace("win32", "windows").replace("darwin", "macos");
}

/**
 * Writes the archives and bundles of these systems and their checksums, and gives their paths. `program` is the folder of
 * the programs, as {@linkcode buildProgram} lays it out.
 */
export async function packArchives(
  folder: string,
  { program, systems }: { readonly program: string; readonly systems: readonly System[] },
): Promise<string[]> {
  const staging = await Deno.makeTempDir({ prefix: "archives-" });
  try {
    await Deno.mkdir(folder, { recursive: true });
    const paths: string[] = [];
    for (const system of systems) paths.push(...await packSystem(system, { program, staging, folder }));
    const sums: string[] = [];
    for (const path of paths) sums.push(`${await digestOf(path)}  ${basename(path)}\n`);
    await Deno.writeTextFile(join(folder, "SHA256SUMS"), sums.join(""));
    return paths;
  } finally {
    await Deno.remove(staging, { recursive: true });
  }
}

async function packSystem(
  system: System,
  { program, staging, folder }: {
    readonly program: string;
    readonly staging: string;
    readonly folder: string;
  },
): Promise<string[]> {
  const isWindows = system.startsWith("win32");
  const name = isWindows ? WINDOWS_FOLDER : archiveName(system);
  const lib = join(staging, name, "lib");
  await Deno.mkdir(join(lib, "node_modules"), { recursive: true });
  await succeed("cp", run("cp", ["-r", program, join(lib, "node_modules", "a2c-smcp")], staging));
  await addDeno(system, lib);
  if (isWindows) await Deno.rename(join(lib, "deno.exe"), join(staging, name, WINDOWS_DENO));
  const launcher = join(staging, name, isWindows ? "a2c-smcp.cmd" : "a2c-smcp");
  await Deno.writeTextFile(launcher, isWindows ? WINDOWS_LAUNCHER : LAUNCHER, { mode: 0o755 });
  const path = resolve(folder, `${archiveName(system)}.${isWindows ? "zip" : "tar.gz"}`);
  await (isWindows
    ? zip(path, [name], staging)
    : succeed("tar", run("tar", ["--owner=0", "--group=0", "-czf", path, name], staging)));
  const bundled = BUNDLE_SYSTEMS.find((each) => each === system);
  const archive = join(staging, name);
  const bundles = bundled === undefined
    ? []
    : await packBundles(bundled, { archive, known: knownAs(system), folder });
  await Deno.remove(archive, { recursive: true });
  return [path, ...bundles];
}

/** Puts Deno's executable into a folder, from its package for npm. */
async function addDeno(system: System, folder: string): Promise<void> {
  const { stdout } = await succeed(
    "npm pack",
    run("npm", ["pack", "--silent", "--prefer-offline", `@deno/${system}@${DENO_VERSION}`], folder),
  );
  const executable = system.startsWith("win32") ? "deno.exe" : "deno";
  const words = ["-xzf", stdout.trim(), "--strip-components=1", `package/${executable}`];
  await succeed("tar", run("tar", words, folder));
  await Deno.remove(join(folder, stdout.trim()));
}

async function digestOf(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(path))).toHex();
}

if (import.meta.main) {
  const [folder, ...systems] = Deno.args;
  const unknown = systems.find((system) => !DENO_SYSTEMS.some((known) => known === system));
  if (folder === undefined || unknown !== undefined) {
    console.error(`Usage: deno run -A tools/archives.ts FOLDER [${DENO_SYSTEMS.join(" | ")}]…`);
    Deno.exit(2);
  }
  const chosen = DENO_SYSTEMS.filter((system) => systems.length === 0 || systems.includes(system));
  const staging = await Deno.makeTempDir({ prefix: "archives-" });
  try {
    const program = join(staging, "program");
    await buildProgram(program, await buildNpmPackages(staging));
    console.log((await packArchives(folder, { program, systems: chosen })).join("\n"));
  } finally {
    await Deno.remove(staging, { recursive: true });
  }
}
