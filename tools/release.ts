/**
 * What a release needs beside its packages:
 *
 * - `deno run -A tools/release.ts prepare`: dates the version in the changelog, and takes from the pages what holds until the
 *   release alone.
 * - `deno run -A tools/release.ts check TAG`: the tag, the manifests and the changelog name one version, no page says that
 *   it is not released, and all is committed.
 * - `deno run -A tools/release.ts manifests FOLDER`: reads `SHA256SUMS` of the folder and writes what package managers
 *   read, a Homebrew formula, a Scoop manifest and three manifests for winget, and `server-NAME.json` for the MCP registry.
 *
 * @module
 */

import { join } from "@std/path";
import { stringify } from "yaml";
import manifest from "../deno.json" with { type: "json" };
import documents from "../packages/documents/deno.json" with { type: "json" };
import project from "../project.json" with { type: "json" };
import { root, run, succeed } from "./deno.ts";
import { WINDOWS_DENO, WINDOWS_FOLDER } from "./npm_parts.ts";
import { toServerFiles } from "./mcp_servers.ts";

const SUMMARY = "An AI agent uses the tools, windows and documents of other people's machines";
/** The version of winget's manifests; copies of their schemas are among the tests' vectors. */
const WINGET_FORM = "1.12.0";

/**
 * A page without what holds until the release alone: the section of that name, and each paragraph, item and row that links
 * to it. Of the changelog, the version has the date.
 */
export function toReleased(page: string, date: string): string {
  const { version } = manifest;
  return page
    .replace(/\n## Until the release\n[^]*?(?=\n## |$)/, "")
    .replace(/\n\n(?![-*|])(?:.+\n)*.*#until-the-release\).*(?:\n.+)*/g, "")
    .replace(/\n(?:[-*] (?:.+\n {2})*)?.*#until-the-release\).*(?:\n {2}.+)*/g, "")
    .replace(`\n## [${version}] - Unreleased\n`, `\n## [${version}] - ${date}\n`);
}

/** The pages of a repository that a release changes, with their texts then. */
export async function findUnreleased(tree: string, date: string): Promise<ReadonlyMap<string, string>> {
  const pages = [...await readPages(tree)].map(([path, page]) =>
    [path, page, toReleased(page, date)] as const
  );
  return new Map(pages.flatMap(([path, page, released]) => released === page ? [] : [[path, released]]));
}

async function readPages(tree: string): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await succeed("git", run("git", ["ls-files", "*.md"], tree));
  const paths = stdout.trim().split("\n").filter((path) => path !== "");
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await Deno.readTextFile(join(tree, path))] as const)),
  );
}

const today = () => new Date().toISOString().slice(0, 10);

/** What is wrong with a release of this tag; nothing when all is well. `tree` is the repository that is released. */
export async function findFaults(tag: string, tree: string = root): Promise<string[]> {
  const { version } = manifest;
  const { stdout: changes } = await succeed("git", run("git", ["status", "--porcelain"], tree));
  const pages = await readPages(tree);
  const changelog = pages.get("CHANGELOG.md") ?? "";
  const unreleased = await findUnreleased(tree, today());
  const waiting = [...pages].flatMap(([path, page]) =>
    (unreleased.get(path) ?? page).includes("until-the-release") ? [path] : []
  );
  return [
    changes === "" ? "" : "there are changes that are not committed",
    tag === `v${version}` ? "" : `the tag is ${tag}, and deno.json has version ${version}`,
    documents.version === version ? "" : `the documents have version ${documents.version}`,
    changelog.includes(`\n## [${version}] - `) ? "" : `CHANGELOG.md has no section [${version}]`,
    unreleased.size === 0 ? "" : `${[...unreleased.keys()].join(", ")} say that it is not released: ` +
      "run `deno run -A tools/release.ts prepare` first",
    waiting.length === 0
      ? ""
      : `${waiting.join(", ")} have "until-the-release" where prepare cannot remove it`,
  ].filter((fault) => fault !== "");
}

/** The digests of `SHA256SUMS` by the system of the archive, such as `linux-x64`. */
export function readSums(
  text: string,
): ReadonlyMap<string, { readonly name: string; readonly digest: string }> {
  const lines = text.matchAll(/^([0-9a-f]{64}) {2}(a2c-smcp-[\d.]+-([a-z]+-[a-z\d]+)\.\S+)$/gm);
  return new Map(Array.from(lines, ([, digest = "", name = "", system = ""]) => [system, { name, digest }]));
}

/** The manifests of package managers, by their file names. */
export function toManifests(sums: string, version: string = manifest.version): ReadonlyMap<string, string> {
  const archives = readSums(sums);
  const find = (system: string) => {
    const archive = archives.get(system);
    if (archive === undefined) throw new TypeError(`Cannot write the manifests: SHA256SUMS has no ${system}`);
    return { ...archive, url: `${project.repository}/releases/download/v${version}/${archive.name}` };
  };
  return new Map([
    ["a2c-smcp.rb", toFormula(find, version)],
    ["a2c-smcp.json", toScoop(find, version)],
    ...toWinget(find, version),
  ]);
}

type Find = (system: string) => { readonly url: string; readonly digest: string };

function toFormula(find: Find, version: string): string {
  const source = (system: string) => {
    const { url, digest } = find(system);
    return `      url "${url}"\n      sha256 "${digest}"`;
  };
  return `class A2cSmcp < Formula
  desc "${SUMMARY.replace(/^An /, "")}"
  homepage "${project.homepage}"
  version "${version}"
  license "${manifest.license}"

  on_macos do
    on_arm do
${source("macos-arm64")}
    end
    on_intel do
${source("macos-x64")}
    end
  end

  on_linux do
    on_arm do
${source("linux-arm64")}
    end
    on_intel do
${source("linux-x64")}
    end
  end

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"a2c-smcp"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/a2c-smcp --version")
  end
end
`;
}

function toScoop(find: Find, version: string): string {
  const entry = (system: string) => {
    const { url, digest } = find(system);
    return { url, hash: digest, extract_dir: WINDOWS_FOLDER };
  };
  const scoop = {
    version,
    description: SUMMARY,
    homepage: project.homepage,
    license: manifest.license,
    architecture: { "64bit": entry("windows-x64"), arm64: entry("windows-arm64") },
    bin: "a2c-smcp.cmd",
    checkver: { github: project.repository },
  };
  return `${JSON.stringify(scoop, null, 2)}\n`;
}

/**
 * A command of winget is an `.exe`, and ours is a script. With `ArchiveBinariesDependOnPath`, winget makes no link to the
 * `.exe`: it puts the folder on the PATH, where the launcher is, too.
 */
function toWinget(find: Find, version: string): [string, string][] {
  const id = `${project.scope.slice(1)}.a2c-smcp`;
  const write = (type: string, ending: string, values: object): [string, string] => {
    const schema = `https://aka.ms/winget-manifest.${type}.${WINGET_FORM}.schema.json`;
    const names = { PackageIdentifier: id, PackageVersion: version };
    const form = { ManifestType: type, ManifestVersion: WINGET_FORM };
    const text = stringify({ ...names, ...values, ...form }, { lineWidth: 0 });
    return [`${id}${ending}.yaml`, `# yaml-language-server: $schema=${schema}\n${text}`];
  };
  const installer = (machine: string) => {
    const { url, digest } = find(`windows-${machine}`);
    return { Architecture: machine, InstallerUrl: url, InstallerSha256: digest };
  };
  return [
    write("version", "", { DefaultLocale: "en-US" }),
    write("installer", ".installer", {
      InstallerType: "zip",
      NestedInstallerType: "portable",
      NestedInstallerFiles: [{ RelativeFilePath: `${WINDOWS_FOLDER}\\${WINDOWS_DENO}` }],
      ArchiveBinariesDependOnPath: true,
      Commands: ["a2c-smcp"],
      Installers: ["x64", "arm64"].map(installer),
    }),
    write("defaultLocale", ".locale.en-US", {
      PackageLocale: "en-US",
      Publisher: project.author,
      PublisherSupportUrl: `${project.repository}/issues`,
      PackageName: "A2C-SMCP",
      PackageUrl: project.homepage,
      License: manifest.license,
      ShortDescription: SUMMARY,
      Moniker: "a2c-smcp",
      ReleaseNotesUrl: `${project.repository}/releases/tag/v${version}`,
      InstallationNotes: "The command is a2c-smcp. Open a new terminal for the new PATH; next: a2c-smcp demo",
    }),
  ];
}

if (import.meta.main) {
  const [command, argument] = Deno.args;
  if (command === "prepare" && argument === undefined) {
    const pages = await findUnreleased(root, today());
    for (const [path, text] of pages) await Deno.writeTextFile(join(root, path), text);
    console.log(
      `${pages.size} pages are of the released state. Read \`git diff\`, commit it, and push the tag v${manifest.version}.`,
    );
  } else if (command === "check" && argument !== undefined) {
    const faults = await findFaults(argument);
    for (const fault of faults) console.error(`error: Cannot release ${argument}: ${fault}`);
    if (faults.length > 0) Deno.exit(1);
  } else if (command === "manifests" && argument !== undefined) {
    const sums = await Deno.readTextFile(join(argument, "SHA256SUMS"));
    for (const [name, text] of [...toManifests(sums), ...toServerFiles()]) {
      await Deno.writeTextFile(join(argument, name), text);
    }
  } else {
    console.error("Usage: deno run -A tools/release.ts prepare | check TAG | manifests FOLDER");
    Deno.exit(2);
  }
}
