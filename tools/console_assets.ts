/**
 * Writes `src/console/assets.ts`: the pages of the console with all that they need, as texts in one module, since a package
 * from JSR is not on the disk. With `--check` it only says whether the module is up to date.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import * as esbuild from "esbuild";
import { captureDeno, root } from "./deno.ts";

const pageFolder = join(root, "src", "console", "page");
const assetsPath = join(root, "src", "console", "assets.ts");
const pages = ["owner", "operator"] as const;

/** What the pages import, also by way of another one of these. */
const PACKAGES: readonly string[] = ["@preact/signals", "@preact/signals-core", "htm", "preact"];

/** A package from npm as Deno has it on the disk. */
interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly localPath: string;
}

/** The packages in the versions of the lock file. */
async function listPackages(): Promise<NpmPackage[]> {
  const [entry = "", ...others] = pages.map((page) => join(pageFolder, `${page}.ts`));
  await readFromDeno(["cache", "--quiet", entry, ...others]);
  const stdout = await readFromDeno(["info", "--json", entry]);
  const { npmPackages }: { npmPackages: Readonly<Record<string, NpmPackage>> } = JSON.parse(stdout);
  return Object.values(npmPackages).filter(({ name }) => PACKAGES.includes(name))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

async function readFromDeno(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await captureDeno(args);
  if (code !== 0) throw new TypeError(`Cannot run "deno ${args.join(" ")}": ${stderr}`);
  return stdout;
}

/** Bundles the scripts of the pages; `modules` has the packages by their names. */
async function bundlePages(modules: string): Promise<[name: string, text: string][]> {
  const { outputFiles } = await esbuild.build({
    entryPoints: pages.map((page) => join(pageFolder, `${page}.ts`)),
    outdir: pageFolder,
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    nodePaths: [modules],
    preserveSymlinks: true,
    logLevel: "warning",
  });
  return outputFiles.map(({ path, text }) => [path.slice(pageFolder.length + 1), text]);
}

/** Puts the packages where esbuild looks for them. */
async function linkPackages(packages: readonly NpmPackage[], modules: string): Promise<void> {
  for (const { name, localPath } of packages) {
    await Deno.mkdir(dirname(join(modules, name)), { recursive: true });
    await Deno.symlink(localPath, join(modules, name));
  }
}

async function readLicences(packages: readonly NpmPackage[]): Promise<string> {
  const texts = packages.map(async ({ name, version, localPath }) => {
    const text = await Deno.readTextFile(join(localPath, "LICENSE"));
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

/** The text of the module. */
async function buildModule(): Promise<string> {
  const modules = await Deno.makeTempDir({ prefix: "console-" });
  try {
    const packages = await listPackages();
    await linkPackages(packages, modules);
    const index = await Deno.readTextFile(join(pageFolder, "index.html"));
    const read = async (name: string) => [name, await Deno.readTextFile(join(pageFolder, name))] as const;
    const { code: style } = await esbuild.transform(await Deno.readTextFile(join(pageFolder, "style.css")), {
      loader: "css",
      minify: true,
    });
    const assets = [
      ...pages.map((page) => [`${page}.html`, index.replaceAll("{page}", page)] as const),
      ...await bundlePages(modules),
      ["style.css", style] as const,
      await read("icon.svg"),
      ["licences.txt", await readLicences(packages)] as const,
    ];
    const members = assets.map(([name, text]) => `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`);
    return `${HEAD}${members.join("")}};\n`;
  } finally {
    await esbuild.stop();
    await Deno.remove(modules, { recursive: true });
  }
}

const HEAD = `// deno-lint-ignore-file
/** The files of the pages by their names. Written by \`deno task console\`, from \`src/console/page/\`. */
export const assets: Readonly<Record<string, string>> = {
`;

if (import.meta.main) {
  const text = await buildModule();
  const isStale = await Deno.readTextFile(assetsPath).catch(() => "") !== text;
  const isCheck = Deno.args.includes("--check");
  if (!isCheck) await Deno.writeTextFile(assetsPath, text);
  else {console.log(
      isStale ? "assets.ts is out of date: run deno task console" : "the console's pages are up to date",
    );}
  Deno.exit(isCheck && isStale ? 1 : 0);
}
