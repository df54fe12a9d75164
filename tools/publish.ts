/**
 * Runs `deno publish` with the given arguments from a staging copy. The stand-ins for `jsr:@std/*` are members of the
 * repository's workspace. They may neither be published nor lie inside a published package, so the copy has the package
 * in one folder, and the stand-ins in another one beside it, as links.
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

/** Lays out `pkg/` and, beside it, the stand-ins under the paths that they have in the repository. */
async function stage(folder: string): Promise<string> {
  const packageFolder = join(folder, "pkg");
  // The lock file is not published; it lets the check see the versions that the tests saw.
  for (const path of [...manifest.publish.include, "deno.lock"]) {
    await copy(join(root, path), join(packageFolder, path));
  }
  const { workspace: standIns, ...rest } = manifest;
  for (const path of standIns) await copy(join(root, path), join(folder, path));
  const staged = { ...rest, links: standIns.map((path) => `../${path.replace(/^\.\//, "")}`) };
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
