/**
 * Makes the npm packages: `deno run -A tools/npm.ts [FOLDER]` writes `a2c-smcp-sdk-VERSION.tgz` and
 * `a2c-smcp-documents-VERSION.tgz` into the folder, by default the root of the repository, and prints their paths.
 *
 * `deno pack` makes plain JavaScript with types of a package. What the oldest maintained Node does not understand is then
 * lowered by esbuild (`using`) or brought along from core-js, and the package's manifest is completed: `deno pack` writes
 * no dependencies for other members of the workspace. For browsers, the Agent's door loses its program, and two modules
 * get a counterpart.
 *
 * @module
 */

import { dirname, join, relative, SEPARATOR } from "@std/path";
import * as esbuild from "esbuild";
import manifest from "../deno.json" with { type: "json" };
import project from "../project.json" with { type: "json" };
import documentsManifest from "../packages/documents/deno.json" with { type: "json" };
import { captureDeno, root, run, succeed } from "./deno.ts";
import { DOCUMENTS as DOCUMENTS_SERVER, mcpName } from "./mcp_servers.ts";
import {
  bundle,
  denoPackages,
  HUB_DEPENDENCY,
  installTools,
  isBundled,
  OLDEST_NODE,
  pack,
  STD_PATH,
  writeCompletions,
} from "./npm_parts.ts";

/** One of the packages. */
interface NpmPackage {
  /** Where it is in the repository. */
  readonly source: string;
  readonly doors: readonly string[];
  /** The doors that start processes and watch files by Deno's own functions, also where npm brought the package. */
  readonly denoDoors: readonly string[];
  /** Changes the unpacked files before the doors get their guards. */
  readonly adapt: (folder: string) => Promise<void>;
  /** What the manifest lacks. */
  readonly describe: (dependencies: Record<string, string>) => Readonly<Record<string, unknown>>;
}

const SDK: NpmPackage = {
  source: root,
  doors: Object.values(manifest.exports),
  denoDoors: (["./computer", "./hub", "./cli", "./program"] as const).map((door) => manifest.exports[door]),
  adapt: adaptSdk,
  describe: ({ deno: _programsOnly, [HUB_DEPENDENCY]: hubDependency, ...dependencies }) => ({
    description: "A2C-SMCP: an AI agent uses the tools, windows and documents of other people's machines",
    browser: {
      "./needs_node.js": "./needs_secure_page.js",
      ...Object.fromEntries(Object.entries(WEB_MODULES).map(([module, web]) => [toJs(module), toJs(web)])),
    },
    dependencies,
    // The SDK uses them where they are installed; strict package managers let it find only what it names.
    peerDependencies: {
      [documentsManifest.name]: documentsManifest.version,
      [HUB_DEPENDENCY]: hubDependency,
    },
    peerDependenciesMeta: {
      [documentsManifest.name]: { optional: true },
      [HUB_DEPENDENCY]: { optional: true },
    },
  }),
};

const DOCUMENTS: NpmPackage = {
  source: join(root, "packages", "documents"),
  doors: Object.values(documentsManifest.exports),
  denoDoors: Object.values(documentsManifest.exports),
  adapt: adaptDocuments,
  describe: (dependencies) => ({
    description:
      "An MCP server that makes the files of folders documents: pages and elements that an agent reads",
    mcpName: mcpName(DOCUMENTS_SERVER),
    bin: { "a2c-smcp-documents": "bin/a2c-smcp.js" },
    dependencies: { ...dependencies, [manifest.name]: manifest.version },
    optionalDependencies: denoPackages(),
  }),
};

/** What browsers get in place of a module, by the field `browser` of the manifest, which all bundlers read. */
const WEB_MODULES = {
  "./src/link/http_request.ts": "./src/link/http_request_web.ts",
};

/** Written in what any Node with modules understands. */
const NEEDS_NODE = `
const [neededMajor, neededMinor] = "${OLDEST_NODE}".split(".").map(Number);
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  throw new Error(
    "Cannot use @a2c-smcp/sdk in Node " + process.versions.node + ": it needs Node ${OLDEST_NODE} or later",
  );
}
export {};
`;

/** What browsers get in place of that: they keep what makes random ids from pages that came over plain HTTP. */
const NEEDS_SECURE_PAGE = `
if (globalThis.isSecureContext === false) {
  throw new Error("Cannot use @a2c-smcp/sdk in a page of plain HTTP: serve the page by https, or from localhost");
}
export {};
`;

const NEEDS_DENO = `
if (typeof globalThis.Deno === "undefined") {
  throw new Error(
    "Cannot use this module of A2C-SMCP in Node: it runs processes by Deno. Run the program by Deno " +
      '("npm install deno", then "npx deno run -A program.js"), or run Computer and documents as programs of their own',
  );
}
export {};
`;

/** Writes the tarballs of both packages into the folder, and gives their paths. */
export async function buildNpmPackages(folder: string): Promise<readonly [sdk: string, documents: string]> {
  return [await buildNpmPackage(SDK, folder), await buildNpmPackage(DOCUMENTS, folder)];
}

async function buildNpmPackage(npmPackage: NpmPackage, folder: string): Promise<string> {
  const staging = await Deno.makeTempDir({ prefix: "npm-" });
  try {
    const packed = join(staging, "packed.tgz");
    await succeed(
      "deno pack",
      captureDeno(["pack", "--allow-dirty", "--no-source-maps", "--output", packed], {
        cwd: npmPackage.source,
      }),
    );
    await succeed("tar", run("tar", ["xzf", "packed.tgz"], staging));
    const packageFolder = join(staging, "package");
    await lower(packageFolder);
    await npmPackage.adapt(packageFolder);
    await mendTypes(packageFolder);
    await installTools(staging);
    await bundle(packageFolder);
    await writeCompletions(packageFolder);
    await prependTo(npmPackage.doors, { folder: packageFolder, module: "completions.js" });
    await guard(packageFolder, npmPackage);
    await describe(packageFolder, npmPackage);
    return await pack(packageFolder, folder);
  } finally {
    await esbuild.stop();
    await Deno.remove(staging, { recursive: true });
  }
}

/** Rewrites each module in place for the oldest Node. */
async function lower(folder: string): Promise<void> {
  const modules = await listFiles(folder, ".js");
  await compile(modules, folder);
  for (const path of modules) {
    const text = await Deno.readTextFile(path);
    const mended = withPlainKeys(withPaths(text, dirname(path), folder));
    if (mended !== text) await Deno.writeTextFile(path, mended);
  }
}

/** Writes modules as the oldest Node understands them, each at its place in the folder. */
async function compile(
  entryPoints: readonly string[],
  folder: string,
  options: esbuild.BuildOptions = {},
): Promise<void> {
  await esbuild.build({
    entryPoints: [...entryPoints],
    outdir: folder,
    outbase: folder,
    allowOverwrite: true,
    format: "esm",
    target: `node${OLDEST_NODE}`,
    logLevel: "warning",
    ...options,
  });
}

async function adaptSdk(folder: string): Promise<void> {
  await dropProgram(folder);
  await addWebModules(folder);
  // What `src/version.ts` reads.
  const { name, version } = manifest;
  await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify({ name, version }));
}

async function adaptDocuments(folder: string): Promise<void> {
  await addParserProgram(folder);
  await addCommand(folder);
}

/** Makes the modules of the parser process: no door imports them, so `deno pack` leaves them as they are. */
async function addParserProgram(folder: string): Promise<void> {
  const sources = (await listFiles(join(folder, "src"), ".ts")).filter((path) => !path.endsWith(".d.ts"));
  await compile(sources, folder);
  for (const source of sources) {
    const module = toJs(source);
    const text = await Deno.readTextFile(module);
    await Deno.writeTextFile(module, text.replaceAll(/(\bfrom "\.[^"]*|\bimport\("\.[^"]*)\.ts"/g, '$1.js"'));
    await Deno.remove(source);
  }
}

/** Adds the command, and the stand-in for the standard library, which lies outside of this package. */
async function addCommand(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, dirname(STD_PATH)), { recursive: true });
  await Deno.writeTextFile(join(folder, STD_PATH), `export * from "deno-std/path/mod.js";\n`);
  await Deno.mkdir(join(folder, "bin"));
  await Deno.copyFile(join(root, "bin", "a2c-smcp.js"), join(folder, "bin", "a2c-smcp.js"));
}

/**
 * Leaves the program out of the Agent's door, because a bundler would follow its import to the command line. The program
 * is in the package `a2c-smcp`. Other doors keep theirs, since browsers do not get them.
 */
async function dropProgram(folder: string): Promise<void> {
  await compile([join(folder, toJs(manifest.exports["./agent"]))], folder, {
    define: { "import.meta.main": "false" },
    minifySyntax: true,
  });
}

/** Makes the modules for browsers: no door imports them, so `deno pack` leaves them as they are. */
async function addWebModules(folder: string): Promise<void> {
  const sources = Object.values(WEB_MODULES).map((path) => join(folder, path));
  await compile(sources, folder);
  for (const source of sources) await Deno.remove(source);
}

/** Puts paths where `deno pack` leaves what only Deno resolves: the standard library, and modules of workers. */
function withPaths(text: string, from: string, folder: string): string {
  return text
    .replaceAll(/(\bfrom ")@std\/(\w+)"/g, (_, before, name) => {
      const path = relative(from, join(folder, "tools", "std", name, "mod.js"));
      return `${before}${path.replaceAll(SEPARATOR, "/")}"`;
    })
    .replaceAll(/(new URL\("\.[^"]*)\.ts", import\.meta\.url/g, '$1.js", import.meta.url');
}

/**
 * Writes `[Symbol.asyncDispose]` where `deno pack` writes the name of a variable that holds it: bundlers leave out a class
 * that nobody uses only if its members have plain names.
 */
function withPlainKeys(text: string): string {
  const keys = [...text.matchAll(/^(_computedKey\d*) = (Symbol\.\w+);$/gm)];
  return keys.reduce(
    (mended, [line, name, symbol]) => mended.replace(line, "").replaceAll(`[${name}]`, `[${symbol}]`),
    text,
  );
}

/** `deno pack` writes comments behind `readonly`, which ends there for TypeScript when the comment has several lines. */
async function mendTypes(folder: string): Promise<void> {
  for (const path of await listFiles(folder, ".d.ts")) {
    const text = await Deno.readTextFile(path);
    const mended = text.replaceAll(/\breadonly (\/\*\*(?:[^*]|\*(?!\/))*\*\/) /g, "$1 readonly ");
    if (mended !== text) await Deno.writeTextFile(path, mended);
  }
}

async function listFiles(folder: string, end: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) files.push(...await listFiles(join(folder, name), end));
    else if (name.endsWith(end)) files.push(join(folder, name));
  }
  return files;
}

/** Lets the doors say which runtime they need in place of whatever fails first without it. */
async function guard(folder: string, { doors, denoDoors }: NpmPackage): Promise<void> {
  await Deno.writeTextFile(join(folder, "needs_node.js"), NEEDS_NODE.trimStart());
  await Deno.writeTextFile(join(folder, "needs_secure_page.js"), NEEDS_SECURE_PAGE.trimStart());
  await prependTo(doors, { folder, module: "needs_node.js" });
  await Deno.writeTextFile(join(folder, "needs_deno.js"), NEEDS_DENO.trimStart());
  await prependTo(denoDoors, { folder, module: "needs_deno.js" });
}

/** Makes a module of the package's folder the first import of these doors. */
async function prependTo(
  doors: readonly string[],
  { folder, module }: { readonly folder: string; readonly module: string },
): Promise<void> {
  for (const path of doors) {
    const up = "../".repeat(path.split("/").length - 2) || "./";
    await prepend(join(folder, toJs(path)), `import "${up}${module}";\n`);
  }
}

function toJs(path: string): string {
  return path.replace(/\.ts$/, ".js");
}

async function prepend(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text + await Deno.readTextFile(path));
}

/** Completes the manifest. */
async function describe(folder: string, npmPackage: NpmPackage): Promise<void> {
  const path = join(folder, "package.json");
  const generated = JSON.parse(await Deno.readTextFile(path));
  const described = {
    ...generated,
    engines: { node: `>=${OLDEST_NODE}` },
    ...published(npmPackage.source === root ? undefined : relative(root, npmPackage.source)),
    ...npmPackage.describe(
      Object.fromEntries(
        Object.entries<string>(generated.dependencies).filter(([name]) => !isBundled(name)),
      ),
    ),
  };
  await Deno.writeTextFile(path, JSON.stringify(described, null, 2));
}

/** What a registry shows of who publishes a package. `directory` is where it is in the repository. */
export function published(directory?: string): Readonly<Record<string, unknown>> {
  const { author, homepage, repository } = project;
  return {
    author,
    homepage,
    repository: { type: "git", url: `git+${repository}.git`, directory },
    bugs: `${repository}/issues`,
    keywords: ["mcp", "model-context-protocol", "ai-agent", "remote-tools", "socket.io", "a2c-smcp"],
  };
}

if (import.meta.main) console.log((await buildNpmPackages(Deno.args[0] ?? root)).join("\n"));
