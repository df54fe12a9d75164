/**
 * Makes the programs as one package: `deno run -A tools/program.ts [FOLDER]` writes `a2c-smcp-VERSION.tgz` for npm into the
 * folder, by default the root of the repository, and prints its path.
 *
 * The package brings along everything that the programs import, in the versions that the tests saw, without what only
 * compilers and debuggers read. Deno is its one dependency. So an installation fetches two packages, the first start
 * fetches nothing, and the archives of a release hold the same folder.
 *
 * @module
 */

import { join, resolve } from "@std/path";
import * as esbuild from "esbuild";
import manifest from "../deno.json" with { type: "json" };
import documentsManifest from "../packages/documents/deno.json" with { type: "json" };
import { EVERYTHING } from "../examples/everything_servers.ts";
import { root, run, succeed } from "./deno.ts";
import { GATEWAY, mcpName } from "./mcp_servers.ts";
import { buildNpmPackages, published } from "./npm.ts";
import { DENO_STD, denoPackages, HUB_DEPENDENCY, install, pack } from "./npm_parts.ts";

const EVERYTHING_PACKAGE = EVERYTHING.replace("npm:", "");
const EVERYTHING_MODULE = `${EVERYTHING_PACKAGE.replace(/@[\d.]+$/, "")}/dist/index.js`;

/** What nobody reads who only runs the programs. */
const UNREAD =
  /\.(?:map|[cm]?ts|tsbuildinfo|flow|yml|eslintrc|nycrc|editorconfig)$|^(?:readme|changelog|history)(?:\.(?:md|markdown|txt))?$/i;
/** Builds of packages that Deno never imports. */
const UNUSED = [
  "@types",
  ".bin",
  ".package-lock.json",
  "@bpinternal/verel/dist/web",
  "@e965/xlsx/dist",
  "yaml/browser",
];

/** Lays out the package in a new folder, with everything that it imports; `tarballs` are those of the libraries. */
export async function buildProgram(folder: string, tarballs: readonly string[]): Promise<void> {
  const staging = await Deno.makeTempDir({ prefix: "program-" });
  try {
    await Deno.mkdir(join(folder, "bin"), { recursive: true });
    await Deno.copyFile(join(root, "bin", "a2c-smcp.js"), join(folder, "bin", "a2c-smcp.js"));
    for (const name of ["README.md", "LICENSE"]) await Deno.copyFile(join(root, name), join(folder, name));
    const hub = manifest.imports[HUB_DEPENDENCY].replace("npm:", "");
    await Deno.writeTextFile(join(staging, "package.json"), "{}");
    await install(staging, ["--omit=optional", ...tarballs, hub, EVERYTHING_PACKAGE]);
    await prune(join(staging, "node_modules"));
    await leaveDenoToProgram(join(staging, "node_modules", documentsManifest.name, "package.json"));
    await succeed("mv", run("mv", [join(staging, "node_modules"), folder], staging));
    await buildDemo(folder, staging);
    await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify(await describe(folder), null, 2));
  } finally {
    await Deno.remove(staging, { recursive: true });
  }
}

/** Removes what only compilers and debuggers read. */
async function prune(modules: string): Promise<void> {
  for (const path of UNUSED) await Deno.remove(join(modules, path), { recursive: true }).catch(ignoreMissing);
  await removeUnread(modules);
}

async function removeUnread(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await removeUnread(path);
    else if (UNREAD.test(name)) await Deno.remove(path);
  }
}

/** npm does not install what a bundled package asks for, too: it takes it for bundled. */
async function leaveDenoToProgram(path: string): Promise<void> {
  const { optionalDependencies: _deno, ...described } = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify(described, null, 2));
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** Makes the demo and its MCP server plain JavaScript that imports the SDK by name. */
async function buildDemo(folder: string, staging: string): Promise<void> {
  await install(staging, ["--no-save", DENO_STD]);
  const examples = join(root, "examples");
  const demo = join(folder, "demo");
  try {
    await esbuild.build({
      entryPoints: [join(examples, "demo.ts"), join(examples, "workspace", "server.ts")],
      outdir: demo,
      outbase: examples,
      bundle: true,
      packages: "external",
      plugins: [importsAsInstalled(staging)],
      format: "esm",
      platform: "node",
      target: "esnext",
      logLevel: "warning",
    });
  } finally {
    await esbuild.stop();
  }
  const path = join(demo, "demo.js");
  const text = await Deno.readTextFile(path);
  const installed = `import.meta.resolve("${EVERYTHING_MODULE}")`;
  const demoText = text.replace(`"${EVERYTHING}"`, installed)
    .replaceAll('["run", ', '["run", "--node-modules-dir=manual", ')
    .replace("/server.ts", "/server.js");
  await Deno.writeTextFile(path, demoText);
  for (const name of ["documents", "reports"]) {
    await Deno.mkdir(join(demo, name));
    for await (const file of Deno.readDir(join(examples, name))) {
      await Deno.copyFile(join(examples, name, file.name), join(demo, name, file.name));
    }
  }
}

/** The doors by the name of the package, and the standard library as a part of the module. */
function importsAsInstalled(staging: string): esbuild.Plugin {
  const doors = new Map(Object.entries(manifest.exports).map(([door, path]) => [join(root, path), door]));
  return {
    name: "imports as installed",
    setup(build) {
      build.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
        const door = doors.get(resolve(resolveDir, path));
        return door === undefined ? undefined : { path: join(manifest.name, door), external: true };
      });
      build.onResolve({ filter: /^@std\// }, ({ path }) => ({
        path: join(staging, "node_modules", "deno-std", path.replace("@std/", ""), "mod.js"),
      }));
    },
  };
}

async function describe(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const names = [
    manifest.name,
    documentsManifest.name,
    HUB_DEPENDENCY,
    EVERYTHING_MODULE.split("/dist/")[0] ?? "",
  ];
  const versions = await Promise.all(names.map(async (name) => {
    const text = await Deno.readTextFile(join(folder, "node_modules", name, "package.json"));
    return [name, JSON.parse(text).version];
  }));
  return {
    name: GATEWAY.npmPackage,
    mcpName: mcpName(GATEWAY),
    version: manifest.version,
    description: "An AI agent uses the tools, windows and documents of other people's machines: the programs",
    license: manifest.license,
    ...published(),
    type: "module",
    bin: { "a2c-smcp": "bin/a2c-smcp.js" },
    exports: { "./demo": "./demo/demo.js" },
    engines: { node: ">=20" },
    dependencies: Object.fromEntries(versions),
    bundleDependencies: names,
    optionalDependencies: denoPackages(),
  };
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "program-" });
  try {
    await buildProgram(join(folder, "program"), await buildNpmPackages(folder));
    console.log(await pack(join(folder, "program"), Deno.args[0] ?? root));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
