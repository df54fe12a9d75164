// What the manifests repeat of each other is the same, and what is linked to is published.

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import deno from "../../deno.json" with { type: "json" };
import documents from "../../packages/documents/deno.json" with { type: "json" };
import { denoPackages } from "../../tools/npm_parts.ts";

Deno.test("documents have the version of the SDK, and need exactly that one", () => {
  assertEquals(documents.version, deno.version);
  assertEquals(documents.imports["@a2c-smcp/sdk"], `jsr:${deno.name}@${deno.version}`);
});

Deno.test("a package that both members of the workspace import has one version", () => {
  const ours: Readonly<Record<string, string>> = deno.imports;
  const differing = Object.entries(documents.imports)
    .filter(([name, version]) => (ours[name] ?? version) !== version);
  assertEquals(differing, []);
});

Deno.test("the programs bring the Deno that .ci/run asks for", async () => {
  const script = await Deno.readTextFile(new URL("../../.ci/run", import.meta.url));
  assertEquals(new Set(Object.values(denoPackages())), new Set([/minimum_deno=(\S+)/.exec(script)?.[1]]));
});

Deno.test("what the README and its pages link to is published with them", async () => {
  const pages = [...await pagesOf("docs/"), ...await pagesOf("docs/protocol/")];
  for (const page of ["README.md", ...pages]) {
    const text = await Deno.readTextFile(new URL(`../../${page}`, import.meta.url));
    for (const [, link = ""] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      const target = join(page, "..", link);
      assert(
        deno.publish.include.some((path) => target === path || path.endsWith("/") && target.startsWith(path)),
        `"publish.include" lacks ${target}, to which ${page} links`,
      );
    }
  }
});

/** The pages right in a folder of the repository. */
async function pagesOf(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(new URL(`../../${folder}`, import.meta.url)));
  return entries.filter(({ name }) => name.endsWith(".md")).map(({ name }) => `${folder}${name}`);
}

Deno.test(".ci/run runs the tests by the command of the README, and then the gate without them", async () => {
  const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const command = /^(npx --yes deno task test)\b/m.exec(await read("README.md"))?.[1];
  const commands = (await read(".ci/run")).split("\n").filter((line) => /^run .*\bdeno task\b/.test(line));
  assertEquals(commands, [`run ${command}`, "run deno task ok --after-test"]);
});
