/**
 * Bundles for clients that install an MCP server from a file (`.mcpb`): an archive's folder, with Deno and the programs, and
 * a manifest that says what to start and what to ask the person for. `tools/archives.ts` makes them beside the archives.
 *
 * @module
 */

import { join, resolve } from "@std/path";
import manifest from "../deno.json" with { type: "json" };
import project from "../project.json" with { type: "json" };
import {
  DOCUMENTS,
  FOLDERS,
  GATEWAY,
  GATEWAY_SETTINGS,
  type McpServer,
  type Setting,
  variableOf,
} from "./mcp_servers.ts";
import { WINDOWS_DENO, zip } from "./npm_parts.ts";

/** Where an archive has its npm packages. */
const PACKAGES = "lib/node_modules/a2c-smcp/node_modules/@a2c-smcp";
/**
 * The cache folder of each system, in which documents keep what they read between starts, as those of a Computer do. Clients
 * put the user's folder in the place of `${HOME}`.
 */
const CACHES = {
  darwin: "${HOME}/Library/Caches",
  linux: "${HOME}/.cache",
  win32: "${HOME}/AppData/Local",
} as const;
type Platform = keyof typeof CACHES;

/** How a client starts a server, and what it asks for first. */
interface Start {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user_config: Readonly<Record<string, unknown>>;
  /** What the client may show before the server runs; the tools of an office are known only then. */
  readonly tools?: readonly { readonly name: string; readonly description: string }[];
}

const STARTS: Readonly<Record<McpServer["name"], (platform: Platform) => Start>> = {
  gateway: () => ({
    args: ["-A", "--node-modules-dir=manual", `\${__dirname}/${PACKAGES}/sdk/cli.js`, "agent", "mcp"],
    env: Object.fromEntries(
      Object.keys(GATEWAY_SETTINGS).map((name) => [variableOf(name), `\${user_config.${name}}`]),
    ),
    user_config: Object.fromEntries(
      Object.entries(GATEWAY_SETTINGS).map(([name, setting]) => [name, question(setting)]),
    ),
  }),
  documents: (platform) => ({
    args: [
      // No network; the processes that read files have no permission at all. The folders become several arguments, so that no
      // list of permissions can have them, and Deno knows its executable by another path where a link leads to the bundle.
      ...["--no-prompt", "--ignore-env", "--allow-read", "--allow-run"],
      `--allow-write=${cacheOf(platform)}`,
      ...["--node-modules-dir=manual", `\${__dirname}/${PACKAGES}/documents/main.js`],
      ...["--cache", cacheOf(platform), "${user_config.folders}"],
    ],
    env: {},
    user_config: { folders: { ...question(FOLDERS), type: "directory", multiple: true } },
    tools: [
      { name: "find_documents", description: "Finds the pages whose text fits best" },
      {
        name: "read_document",
        description: "Reads a document, some of its pages, or what is around some words",
      },
      { name: "list_documents", description: "Lists documents by path, or those that changed last" },
    ],
  }),
};

function cacheOf(platform: Platform): string {
  return `${CACHES[platform]}/a2c-smcp/documents/bundle`;
}

/** The servers of which bundles are made. */
export const BUNDLED = [GATEWAY, DOCUMENTS] as const;

/** The systems of the archives for which there are clients that read bundles. */
export const BUNDLE_SYSTEMS = ["darwin-arm64", "darwin-x64", "linux-x64-glibc", "win32-x64"] as const;
export type BundleSystem = typeof BUNDLE_SYSTEMS[number];

/** Without a version, so that a link to the latest release stays. */
export function bundleName({ name }: McpServer, system: string): string {
  return `a2c-smcp-${name}-${system}.mcpb`;
}

/** The manifest of a server's bundle for a system. */
export function toBundleManifest(server: McpServer, system: BundleSystem): Readonly<Record<string, unknown>> {
  const [platform] = system.split("-") as [Platform];
  const { args, env, user_config, tools } = STARTS[server.name](platform);
  const executable = platform === "win32" ? WINDOWS_DENO : "lib/deno";
  return {
    manifest_version: "0.3",
    name: `a2c-smcp-${server.name}`,
    display_name: server.title,
    version: manifest.version,
    description: server.summary,
    author: { name: project.author, url: project.homepage },
    repository: { type: "git", url: project.repository },
    homepage: project.homepage,
    support: `${project.repository}/issues`,
    license: manifest.license,
    server: {
      type: "binary",
      entry_point: executable,
      mcp_config: {
        command: `\${__dirname}/${executable}`,
        args: ["run", ...args],
        env: { ...env, DENO_NO_UPDATE_CHECK: "1" },
      },
    },
    ...(tools === undefined ? { tools_generated: true } : { tools }),
    compatibility: { platforms: [platform] },
    user_config,
  };
}

/** Clients take a required setting for missing until the person has written it, whatever its default. */
function question({ title, description, isRequired, isSecret, default: usual }: Setting) {
  const required = isRequired && usual === undefined;
  return { type: "string", title, description, required, sensitive: isSecret, default: usual };
}

/**
 * Writes the bundles of a system into a folder, and gives their paths. `archive` is the folder of that system's archive, and
 * `known` what people call the system.
 */
export async function packBundles(
  system: BundleSystem,
  { archive, known, folder }: { readonly archive: string; readonly known: string; readonly folder: string },
): Promise<string[]> {
  const paths: string[] = [];
  const names = ["manifest.json", "lib", ...(system === "win32-x64" ? [WINDOWS_DENO] : [])];
  for (const server of BUNDLED) {
    const text = JSON.stringify(toBundleManifest(server, system), null, 2);
    await Deno.writeTextFile(join(archive, "manifest.json"), text);
    const path = resolve(folder, bundleName(server, known));
    await zip(path, names, archive);
    paths.push(path);
  }
  return paths;
}
