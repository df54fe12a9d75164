/** Compares the reading of `.gitignore` files with that of Git. */
import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import fc from "../../../../tests/fixtures/fast_check.ts";
import { sized } from "../../../../tests/fixtures/test_size.ts";
import { GitIgnores } from "../../src/folder/gitignore.ts";

const FOLDERS = ["a/", "a/b/", "a/b/a/", "b/", "foo/", "foo/a/", "a b/"];
const FILES = ["", ...FOLDERS].flatMap((folder) =>
  ["a", "foo", "b.c", "ab", "foo.md", "A", "é", "a]", "-x", " s "]
    .map((name) => `${folder}${name === "a" || name === "foo" ? `${name}f` : name}`)
);
const PATHS = [...FOLDERS, ...FILES];

async function git(root: string, args: readonly string[], input: string): Promise<string> {
  const child = new Deno.Command("git", {
    args: ["-C", root, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout);
}

/** What Git ignores of the paths, by `.gitignore` files in some folders. */
async function ignoredByGit(root: string, texts: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [folder, text] of Object.entries(texts)) {
    await Deno.writeTextFile(join(root, folder, ".gitignore"), text);
  }
  const output = await git(
    root,
    ["check-ignore", "--no-index", "-z", "--stdin"],
    PATHS.join("\0").replaceAll("/\0", "\0"),
  );
  const ignored = new Set(output.split("\0"));
  return PATHS.filter((path) => ignored.has(path.replace(/\/$/, "")));
}

/** What we ignore: also what is in a folder that is ignored. */
function ignoredByUs(texts: Readonly<Record<string, string>>): string[] {
  const isIgnored = (path: string): boolean => {
    const names = path.replace(/\/$/, "").split("/");
    let ignores = GitIgnores.none;
    for (let depth = 0; depth < names.length; depth++) {
      const folder = names.slice(0, depth).join("/");
      const text = texts[folder];
      if (text !== undefined) ignores = ignores.with(folder, text);
      const inner = names.slice(0, depth + 1).join("/");
      if (ignores.matcher()(depth + 1 < names.length || path.endsWith("/") ? `${inner}/` : inner)) {
        return true;
      }
    }
    return false;
  };
  return PATHS.filter(isIgnored);
}

const PIECES =
  "a b c foo bar .c .md / / ** * ? ?? [a-c] [!a] [^f]oo [a-] []] []-a] [[:alpha:]] [[:upper:]] [[:space:]] [[:no:]] [z-a] [a \\ \\* \\# ! # - é [é] **/ /** *.* * ** *** a/**/ [a/b] x \\! \\[ \\a"
    .split(" ").concat([" ", "\\ ", "\t"]);
const line = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) =>
  // Git takes two stars after the letters at the start of a line for folders, against its documentation, as it does with an escaped slash.
  pieces.join("").replace(/(?<=[^/!*])\*{2,}/g, "*").replace(/\\+\//g, "/").replace(/\/{2,}/g, "/")
).filter((line) => (line.match(/\*{2,}/g) ?? []).length <= 3);
const text = fc.array(fc.tuple(fc.constantFrom("", "", "", "!"), line), { maxLength: 5 })
  .map((lines) => lines.map((parts) => parts.join("")).join("\n"));

Deno.test("a .gitignore ignores what Git ignores", async () => {
  const root = await Deno.makeTempDir();
  try {
    await git(root, ["init", "--quiet"], "");
    for (const folder of FOLDERS) await Deno.mkdir(join(root, folder), { recursive: true });
    for (const file of FILES) await Deno.writeTextFile(join(root, file), "");
    const examples = [
      "*.md\n!foo.md\r\n# no\n\\#x\n  \n",
      "/foo\na/\n!a/\n",
      "\ufefffoo/**\nb/**/ab\n**/b.c",
      "a b/*\n!a b/ab\ns \\ \n",
      "*\n!*/\n!*.md",
      "a/b\n",
      "**\n!**/",
      "[a-\nfoo\\",
      "*a**f\n/**/ab",
    ].map((root): [string, string] => [root, "!ab\n/b.c"]);
    const check = async (above: string, below: string) => {
      const texts = { "": above, a: below, "a/b": "" };
      assertEquals(ignoredByUs(texts), await ignoredByGit(root, texts));
    };
    await fc.assert(fc.asyncProperty(text, text, check), {
      numRuns: sized({ reduced: 100, full: 3_000 }),
      examples,
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
