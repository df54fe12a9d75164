/** What the npm packages bring along of other packages: parts of some modules, and what the oldest Node lacks. */
import { dirname, join, resolve } from "@std/path";
import * as esbuild from "esbuild";
import manifest from "../deno.json" with { type: "json" };
import { run, succeed } from "./deno.ts";

/** The oldest line of Node that gets corrections, with JSON imports that print no warning. */
export const OLDEST_NODE = "22.12";

/** What a hub with a sign-in of its own loads, and nothing else; it brings about 30 packages. */
export const HUB_DEPENDENCY = "oidc-provider";

/** What `.ci/run` asks for. */
export const DENO_VERSION = "2.9.6";
/** The systems with an executable of Deno, as its packages for npm name them. */
export const DENO_SYSTEMS = [
  "darwin-arm64",
  "darwin-x64",
  "linux-arm64-glibc",
  "linux-x64-glibc",
  "win32-arm64",
  "win32-x64",
] as const;

/** The folder in an archive for Windows. It has no version: entries and services still start after `winget upgrade`. */
export const WINDOWS_FOLDER = "a2c-smcp";
/** Deno's executable in that folder, which winget puts on the PATH: it is beside the launcher, and hides no other Deno. */
export const WINDOWS_DENO = "a2c-smcp-deno.exe";

/** The packages with Deno's executable: npm installs the one for the system. */
export function denoPackages(): Record<string, string> {
  return Object.fromEntries(DENO_SYSTEMS.map((system) => [`@deno/${system}`, DENO_VERSION]));
}

/** Fetched by npm into the staging folder: as a dependency of the repository, Deno would warn of its install script. */
const CORE_JS = "core-js@3.51.0";

/**
 * What the sources use and the oldest Node, or a browser of its age, lacks, as modules of core-js. They do nothing where
 * it is there.
 */
const COMPLETIONS = [
  "es.uint8-array.from-base64",
  "es.uint8-array.to-base64",
];

/** What `using` asks for, under the name that compilers give it where it is missing: core-js takes a kilobyte for it. */
const SYMBOLS =
  `for (const name of ["dispose", "asyncDispose"]) Symbol[name] ??= Symbol.for("Symbol." + name);`;

/** The npm copy of the standard library, in the version of `tools/std/`. */
export const DENO_STD = "deno-std@1.4.0";
/** Where a package has what it uses of `@std/path`. */
export const STD_PATH = "tools/std/path/mod.js";

/**
 * What a single module uses of a package that would bring up to ten others into each installation becomes a part of that
 * module, in exactly the version that the tests saw.
 */
const BUNDLED: Readonly<Record<string, string>> = {
  [STD_PATH]: DENO_STD,
  "src/terminal/display_width.js": manifest.imports["string-width"].replace("npm:", ""),
};

/** Installs what becomes a part of the packages where esbuild finds it. */
export async function installTools(staging: string): Promise<void> {
  await install(staging, ["--no-save", CORE_JS, ...Object.values(BUNDLED)]);
}

/** Installs packages into a folder, without their scripts. */
export async function install(folder: string, words: readonly string[]): Promise<void> {
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", folder];
  await succeed("npm install", run("npm", ["install", ...options, ...words], folder));
}

/** Packs the package of a folder into a tarball in another one, and gives its path. */
export async function pack(packageFolder: string, folder: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", resolve(folder)];
  const { stdout } = await succeed("npm pack", run("npm", words, packageFolder));
  return resolve(folder, stdout.trim());
}

/** Puts what modules use of the bundled packages into them, and the licences of these into a file. */
export async function bundle(folder: string): Promise<void> {
  const { dependencies } = JSON.parse(await Deno.readTextFile(join(folder, "package.json")));
  const external = Object.keys(dependencies).filter((name) => !isBundled(name));
  const licences = new Set<string>();
  for (const module of Object.keys(BUNDLED)) {
    const path = join(folder, module);
    if (!await exists(path)) continue;
    const { metafile } = await esbuild.build({
      entryPoints: [path],
      outfile: path,
      allowOverwrite: true,
      bundle: true,
      metafile: true,
      external: external.flatMap((name) => [name, `${name}/*`]),
      plugins: [ownModulesStay(folder)],
      absWorkingDir: dirname(folder),
      format: "esm",
      platform: "node",
      target: `node${OLDEST_NODE}`,
      logLevel: "warning",
    });
    for (const input of Object.keys(metafile.inputs)) {
      const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
      if (name !== undefined) licences.add(name);
    }
  }
  const texts = [...licences].map((name) => readLicence(join(dirname(folder), "node_modules", name), name));
  await Deno.writeTextFile(join(folder, "BUNDLED_LICENSES"), (await Promise.all(texts)).join("\n\n"));
}

/** Keeps the other modules of the package outside of the one that is bundled. */
function ownModulesStay(folder: string): esbuild.Plugin {
  return {
    name: "own modules stay",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ importer, path }) => {
        return importer.startsWith(folder) ? { path, external: true } : undefined;
      });
    },
  };
}

export function isBundled(name: string): boolean {
  return Object.values(BUNDLED).some((bundled) => bundled.startsWith(`${name}@`));
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function readLicence(folder: string, name: string): Promise<string> {
  for await (const entry of Deno.readDir(folder)) {
    if (!/^licen[cs]e/i.test(entry.name)) continue;
    return `${name}\n\n${(await Deno.readTextFile(join(folder, entry.name))).trim()}\n`;
  }
  const { license } = JSON.parse(await Deno.readTextFile(join(folder, "package.json")));
  return `${name}: ${license}\n`;
}

/** Writes the module that brings along what the oldest Node lacks. */
export async function writeCompletions(folder: string): Promise<void> {
  const staging = dirname(folder);
  await esbuild.build({
    stdin: {
      contents: COMPLETIONS.map((name) => `import "core-js/modules/${name}.js";\n`).join("") + SYMBOLS,
      resolveDir: staging,
    },
    outfile: join(folder, "completions.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    minify: true,
    target: `node${OLDEST_NODE}`,
    logLevel: "warning",
  });
}

/** Writes files and all files of folders, without entries for folders, which not every reader of bundles knows. */
const ZIP = `import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for name in sys.argv[2:]:
        below = sorted(os.path.join(at, file) for at, _, files in os.walk(name) for file in files)
        for path in below or [name]:
            archive.write(path)
`;

/** Writes a zip file of what these names are in a folder. */
export async function zip(path: string, names: readonly string[], folder: string): Promise<void> {
  await succeed("zip", run("python3", ["-c", ZIP, path, ...names], folder));
}
