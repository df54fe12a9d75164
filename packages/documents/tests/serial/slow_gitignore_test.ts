/** Attacker: whoever may write into a folder of documents. A .gitignore is to hold up the server */
import { assert } from "@std/assert";
import { cpuUsage } from "node:process";
import { FileFilter } from "../../src/folder/rules.ts";
import { FileTree } from "../../src/folder/tree.ts";
import { silentLogger } from "@a2c-smcp/sdk/base";
import { TestFolder } from "../integration/_folder_documents.ts";

function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

Deno.test("no line of a .gitignore holds up the server", async () => {
  const deep = `${"a/".repeat(60)}x.md`;
  const names = Array.from({ length: 200 }, (_, n) => `${"a".repeat(200)}${n}.md`);
  const texts = [
    `${"**/a/".repeat(30)}b`,
    `${"**/a/".repeat(3)}b`,
    `${"**/*a*/".repeat(3)}*b`,
    `${"*a".repeat(250)}b`,
    `*${"[a-z]".repeat(90)}[0-9][0-9][0-9][0-9]x*`,
    `${"**/*".repeat(90)}b`,
    `*${"a".repeat(124)}b*`,
    `**/*${"a".repeat(124)}b*/**`,
    "[".repeat(500),
    "*".repeat(500),
  ].map((line) => `${line}\n`.repeat(20_000));
  for (const text of texts) {
    const files = Object.fromEntries([deep, ...names].map((name) => [name, "x"]));
    await using folder = await TestFolder.make({ ...files, ".gitignore": text });
    const tree = new FileTree([await Deno.realPath(folder.path)], {
      filter: new FileFilter({ gitignore: true }),
      maxFiles: 1_000,
      logger: silentLogger,
    });
    let longest = 0;
    let last = cpuMs();
    // The processor time between two turns of the event loop: other programs take the time of a clock.
    const beat = setInterval(() => {
      longest = Math.max(longest, cpuMs() - last);
      last = cpuMs();
    }, 10);
    const { added } = await tree.refresh().finally(() => clearInterval(beat));
    assert(longest < 2_000, `${text.slice(0, 20)} held up the server for ${longest} ms`);
    assert(added.length === 201 || text.startsWith("*****"), `${text.slice(0, 20)}: ${added.length}`);
  }
});
