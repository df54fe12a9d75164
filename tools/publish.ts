/**
 * Runs `deno publish` with the given arguments from a staging copy. Linked packages may neither be published nor lie
 * inside a published package, so the copy has the package in one folder and the links in another one beside it.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import manifest from "../deno.json" with { type: "json" };
import { root, runDeno } from "./deno.ts";

/** Copies a file or a folder with all that is in it. */
async function copy(from: string, to: string): Promise<void> {
  if (!(await Deno.stat(from)).isDirectory) {
    await Deno.mkdir(dirname(to), { recursive: true });
    return await Deno.copyFile(from, to);
  }
  for await (const entry of Deno.readDir(from)) await copy(join(from, entry.name), join(to, entry.name));
}

/** Lays out `pkg/` and, beside it, the links under the paths that they have in the repository. */
async function stage(folder: string): Promise<string> {
  const packageFolder = join(folder, "pkg");
  // The lock file is not published; it lets the check see the versions that the tests saw.
  for (const path of [...manifest.publish.include, "deno.lock"]) {
    await copy(join(root, path), join(packageFolder, path));
  }
  for (const link of manifest.links) await copy(join(root, link), join(folder, link));
  const staged = { ...manifest, links: manifest.links.map((link) => `../${link.replace(/^\.\//, "")}`) };
  await Deno.writeTextFile(join(packageFolder, "deno.json"), JSON.stringify(staged, null, 2));
  return packageFolder;
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "publish-" });
  let code;
  try {
    const cwd = await stage(folder);
    // The copy is no repository, so there is nothing committed to compare it with.
    code = await runDeno(["publish", "--allow-dirty", ...Deno.args], { cwd });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  Deno.exit(code);
}
