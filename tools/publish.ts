/**
 * Runs `deno publish` with the given arguments for each package, from a staging copy. The stand-ins for `jsr:@std/*` are
 * members of the repository's workspace. They may neither be published nor lie inside a published package, so the copy has
 * each package in a folder of its own, and the stand-ins beside them, as links. Both packages in one run would be a
 * circular dependency for JSR: documents need the SDK, whose program starts them. A dry run fails on a warning.
 *
 * @module
 */

import { dirname, join } from "node:path";
import manifest from "../deno.json" with { type: "json" };
import documents from "../packages/documents/deno.json" with { type: "json" };
import { captureDeno, root, runDeno } from "./deno.ts";

const STAND_INS = manifest.workspace.filter((path) => path.startsWith("./tools/std/"));

/** Copies a file or a folder with all that is in it. */
async function copy(from: string, to: string): Promise<void> {
  if (!(await Deno.stat(from)).isDirectory) {
    await Deno.mkdir(dirname(to), { recursive: true });
    return await Deno.copyFile(from, to);
  }
  for await (const entry of Deno.readDir(from)) await copy(join(from, entry.name), join(to, entry.name));
}

/**
 * Lays out `sdk/`, `documents/` and, beside them, the stand-ins under the paths that they have in the repository. Gives the
 * folder of each package when it is its turn.
 */
async function* stage(folder: string): AsyncGenerator<string> {
  const sdkFolder = join(folder, "sdk");
  const documentsFolder = join(folder, "documents");
  for (const path of STAND_INS) await copy(join(root, path), join(folder, path));
  const links = STAND_INS.map((path) => `../${path.replace(/^\.\//, "")}`);
  // The lock file is not published; it lets the check see the versions that the tests saw.
  for (const path of [...manifest.publish.include, "deno.lock"]) {
    await copy(join(root, path), join(sdkFolder, path));
  }
  for (const path of documents.publish.include) {
    await copy(join(root, "packages", "documents", path), join(documentsFolder, path));
  }
  await copy(join(root, "deno.lock"), join(documentsFolder, "deno.lock"));
  const { workspace: _members, ...sdk } = manifest;
  await writeManifest(sdkFolder, { ...sdk, links });
  yield sdkFolder;
  // Deno warns of links in a package that is itself a link.
  await writeManifest(sdkFolder, sdk);
  await writeManifest(documentsFolder, { ...documents, links: ["../sdk", ...links] });
  yield documentsFolder;
}

async function writeManifest(folder: string, staged: object): Promise<void> {
  await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify(staged, null, 2));
}

/** Prints what publishing would do, and resolves to an exit code: a warning is a failure. */
async function rehearse(args: readonly string[], cwd: string): Promise<number> {
  const { code, stdout, stderr } = await captureDeno(args, { cwd });
  console.log(stdout + stderr);
  return code === 0 && /^warning\b/im.test(stderr) ? 1 : code;
}

if (import.meta.main) {
  const args = ["publish", "--allow-dirty", ...Deno.args];
  const folder = await Deno.makeTempDir({ prefix: "publish-" });
  let code = 0;
  try {
    for await (const cwd of stage(folder)) {
      // The copy is no repository, so there is nothing committed to compare it with.
      if (code !== 0) continue;
      code = args.includes("--dry-run") ? await rehearse(args, cwd) : await runDeno(args, { cwd });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  Deno.exit(code);
}
