// `project.json` is the one place of who publishes this, and where: whatever is published agrees with it.

import { assertEquals } from "@std/assert";
import project from "../project.json" with { type: "json" };
import manifest from "../deno.json" with { type: "json" };
import documents from "../packages/documents/deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);

/** What a person fills in and nobody has. */
const PLACEHOLDER = /HOST\/PATH\.git|named in `?LICENSE|\b(?:OWNER|YOUR[-_]?(?:ORG|NAME|REPO))\//;

/** Addresses in the place of the repository: the repository itself, and its releases, files and pages. */
const ADDRESSES = /https:\/\/(?:[\w-]+\.github\.io|github\.com)\/[\w./-]*typescript-sdk[\w./-]*/g;

const PUBLISHED = [
  ...manifest.publish.include,
  ...documents.publish.include.map((path) => `packages/documents/${path}`),
  "README.md",
  "SECURITY.md",
  "LICENSE",
  ".github",
];

function* filesIn(path: string): Generator<string> {
  const url = new URL(path, ROOT);
  if (Deno.statSync(url).isFile) return yield path;
  for (const { name } of Deno.readDirSync(url)) yield* filesIn(`${path.replace(/\/$/, "")}/${name}`);
}

const texts = [...new Set(PUBLISHED.flatMap((path) => [...filesIn(path)]))]
  .filter((path) => !/\.(?:png|svg|wasm)$/.test(path))
  .map((path) => ({ path, text: Deno.readTextFileSync(new URL(path, ROOT)) }));

Deno.test("Nothing that is published has a placeholder for who publishes it", () => {
  const found = texts.flatMap(({ path, text }) =>
    PLACEHOLDER.exec(text)?.map((word) => `${path}: ${word}`) ?? []
  );
  assertEquals(found, []);
});

Deno.test("Each address of the repository and of the site is the one of project.json", () => {
  const { repository, homepage } = project;
  const wrong = texts.flatMap(({ path, text }) =>
    [...text.matchAll(ADDRESSES)].map(([address]) => address)
      .filter((address) =>
        !`${address}/`.startsWith(`${repository}/`) &&
        !address.startsWith(`${repository}.git`) && !`${address}/`.startsWith(homepage)
      )
      .map((address) => `${path}: ${address}`)
  );
  assertEquals(wrong, []);
});

/** Where the account of the repository, or the scope, stands without the whole address. */
const NAMES =
  /brew install ([\w-]+)\/|github\.com\/([\w-]+)\/scoop-bucket|scoop bucket add ([\w-]+)|winget \w+ ([\w-]+)\.a2c|ghcr\.io\/([\w-]+\/[\w-]+)|@([\w-]+)\/maintainers/g;

Deno.test("Each tap, image and team is of the account of project.json", () => {
  const account = /([\w-]+)\/[\w-]+$/.exec(project.repository)?.[1];
  const allowed = [account, project.scope.slice(1), project.repository.replace("https://github.com/", "")];
  const found = texts.flatMap(({ path, text }) =>
    [...text.matchAll(NAMES)].map(([whole, ...names]) => ({ path, whole, name: names.join("") }))
  );
  assertEquals(found.filter(({ name }) => !allowed.includes(name)), []);
  assertEquals(found.length > 5, true);
});

Deno.test("Both packages bear the scope of project.json", () => {
  const scopes = [manifest.name, documents.name].map((name) => name.split("/")[0]);
  assertEquals(scopes, [project.scope, project.scope]);
});

Deno.test("The licence names the author of project.json", async () => {
  const licence = await Deno.readTextFile(new URL("LICENSE", ROOT));
  assertEquals(licence.includes(`Copyright (c) 2026 ${project.author}\n`), true);
});
