// What a release writes beside its packages.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { root, run, succeed } from "../../tools/deno.ts";
import { DENO_SYSTEMS, WINDOWS_DENO, WINDOWS_FOLDER } from "../../tools/npm_parts.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { archiveName } from "../../tools/archives.ts";
import { findFaults, findUnreleased, readSums, toManifests, toReleased } from "../../tools/release.ts";
import manifest from "../../deno.json" with { type: "json" };
// Of github.com/microsoft/winget-cli, schemas/JSON/manifests/v1.12.0; MIT License, Copyright (c) Microsoft Corporation.
import defaultLocale from "../vectors/winget_default_locale_1_12_0.schema.json" with { type: "json" };
import installer from "../vectors/winget_installer_1_12_0.schema.json" with { type: "json" };
import version from "../vectors/winget_version_1_12_0.schema.json" with { type: "json" };

const digestOf = (index: number) => `${index}`.repeat(64);
const sums = DENO_SYSTEMS.map((system, index) =>
  `${digestOf(index)}  ${archiveName(system)}.${system.startsWith("win32") ? "zip" : "tar.gz"}\n`
).join("");

Deno.test("SHA256SUMS is read by the systems that people know", () => {
  assertEquals([...readSums(sums).keys()].sort(), [
    "linux-arm64",
    "linux-x64",
    "macos-arm64",
    "macos-x64",
    "windows-arm64",
    "windows-x64",
  ]);
});

Deno.test("the formula and the bucket name each archive with its digest", () => {
  const manifests = toManifests(sums);
  const texts = [...manifests.values()].join("\n");
  for (const { name, digest } of readSums(sums).values()) {
    assertStringIncludes(texts, `/releases/download/v${manifest.version}/${name}`);
    assertStringIncludes(texts, digest);
  }
  assertEquals(JSON.parse(manifests.get("a2c-smcp.json") ?? "").version, manifest.version);
});

Deno.test("the manifests for winget fit its schemas, and install each archive for Windows by its digest", () => {
  const files = [...toManifests(sums)].filter(([name]) => name.endsWith(".yaml"));
  const schemas = { "": version, ".installer": installer, ".locale.en-US": defaultLocale };
  assertEquals(
    files.map(([name]) => name),
    Object.keys(schemas).map((ending) => `a2c-smcp.a2c-smcp${ending}.yaml`),
  );
  const [, installs] = Object.values(schemas).map((schema, index) => {
    const [name, text = ""] = files[index] ?? [];
    const values = parse(text);
    // They have formats that Ajv does not know by itself, and allow members that winget refuses.
    const isValid = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    assertEquals([name, isValid(values), isValid.errors], [name, true, null]);
    assertEquals(Object.keys(values).filter((key) => !Object.hasOwn(schema.properties, key)), []);
    assertEquals(/ \$schema=(.*)$/m.exec(text)?.[1]?.toLowerCase(), schema.$id);
    return values;
  });
  const windows = [...readSums(sums).values()].filter(({ name }) => name.endsWith(".zip"));
  assertEquals(
    installs.Installers.map(({ InstallerSha256 }: Record<string, string>) => InstallerSha256).toSorted(),
    windows.map(({ digest }) => digest).toSorted(),
  );
  assertEquals(installs.NestedInstallerFiles, [{ RelativeFilePath: `${WINDOWS_FOLDER}\\${WINDOWS_DENO}` }]);
});

Deno.test("an archive that is missing stops the release", () => {
  assertThrows(() => toManifests(sums.split("\n").slice(1).join("\n")), TypeError, "SHA256SUMS has no");
});

const UNRELEASED =
  /^.*(?:not (?:yet )?(?:released|on npm|on JSR)|nothing is (?:released|on npm)|on (?:npm|JSR|npm or JSR) yet|until the release).*$/gim;

Deno.test("no page of a release says that it is not released", async () => {
  const { stdout } = await succeed("git", run("git", ["ls-files", "*.md"], root));
  for (const path of stdout.trim().split("\n")) {
    const page = toReleased(await Deno.readTextFile(join(root, path)), "2026-12-01");
    assertEquals(page.match(UNRELEASED), null, path);
  }
});

Deno.test("a page that says that it is not released stops the release, until it is prepared", async () => {
  using tree = new TempFolder();
  const page = join(tree.path, "page.md");
  await succeed("git", run("git", ["init", "--quiet"], tree.path));
  await Deno.writeTextFile(
    page,
    "# Page\n\nWait [for it](#until-the-release).\n\n## Until the release\n\nA clone.\n\n## Use\n\n| a |\n| - |\n| [b](#until-the-release) |\n| c |\n",
  );
  await succeed("git", run("git", ["add", "page.md"], tree.path));
  assertStringIncludes((await findFaults("v99.0.0", tree.path)).join("\n"), "page.md");
  for (const [path, text] of await findUnreleased(tree.path, "2026-12-01")) {
    await Deno.writeTextFile(join(tree.path, path), text);
  }
  assertEquals(await Deno.readTextFile(page), "# Page\n\n## Use\n\n| a |\n| - |\n| c |\n");
  assertEquals((await findFaults("v99.0.0", tree.path)).join("\n").includes("page.md"), false);
});

Deno.test("what holds until the release goes whole: a section at the end, a wrapped paragraph, an item", () => {
  const link = "[so](a.md#until-the-release)";
  const wrapped =
    `# A\n\nFirst,\nthen ${link},\nand last.\n\n- kept\n- one\n  two ${link}\n  three\n- kept\n`;
  const released = toReleased(`${wrapped}\n## Until the release\n\nA clone.\n\n### Of both\n`, "2026-12-01");
  assertEquals(released, "# A\n\n- kept\n- kept\n");
  assertEquals(toReleased(`# A\n\nWait ${link}.\n`, "2026-12-01"), "# A\n");
});

Deno.test("a page that still leads to what holds until the release stops it, and the changelog is that of the tree", async () => {
  using tree = new TempFolder();
  await succeed("git", run("git", ["init", "--quiet"], tree.path));
  await Deno.writeTextFile(join(tree.path, "page.md"), "> See install.md#until-the-release\n");
  await Deno.writeTextFile(join(tree.path, "CHANGELOG.md"), "# Changelog\n");
  await succeed("git", run("git", ["add", "."], tree.path));
  const faults = (await findFaults("v99.0.0", tree.path)).join("\n");
  assertStringIncludes(faults, "page.md");
  assertStringIncludes(faults, "CHANGELOG.md has no section");
});

Deno.test("a tag of another version, and what is not committed, are faults", async () => {
  using tree = new TempFolder();
  await succeed("git", run("git", ["init", "--quiet"], tree.path));
  assertEquals((await findFaults("v99.0.0", tree.path))[0]?.includes("the tag is v99.0.0"), true);
  await Deno.writeTextFile(join(tree.path, "new.txt"), "");
  assertStringIncludes((await findFaults("v99.0.0", tree.path)).join("\n"), "not committed");
});
