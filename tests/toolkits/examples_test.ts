/** The examples of LLM toolkits, each with the genuine package in the version that `docs/toolkits.md` names. */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import manifest from "../../examples/toolkits/deno.json" with { type: "json" };
import sdk from "../../deno.json" with { type: "json" };

const FOLDER = fromFileUrl(new URL("../../examples/toolkits/", import.meta.url));

const EXAMPLES: readonly { readonly file: string; readonly ending: string }[] = [
  { file: "ai_sdk.ts", ending: "sold two apples after a person had agreed." },
  { file: "ai_sdk_6.ts", ending: "sold two apples after a person had agreed." },
  { file: "anthropic.ts", ending: "read why it could not sell nine apples." },
  { file: "langchain.ts", ending: "sold two apples." },
  { file: "mastra.ts", ending: "sold two apples after a person had agreed." },
  { file: "openai_agents.ts", ending: "sold two apples after a person had agreed." },
];

/** Runs Deno in the folder of the examples, which has a configuration of its own. */
async function runThere(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: FOLDER,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  assertEquals(code, 0, decoder.decode(stdout) + decoder.decode(stderr));
  return decoder.decode(stdout).trimEnd();
}

for (const { file, ending } of EXAMPLES) {
  Deno.test(`examples/toolkits/${file} ends with a checked outcome`, async () => {
    const output = await runThere(["run", "-A", "--no-check", file]);
    assert(output.endsWith(ending), output);
  });
}

Deno.test("the toolkits' own types accept what createToolkit(agent) gives", async () => {
  await runThere(["check", "--quiet", ...EXAMPLES.map(({ file }) => file)]);
});

Deno.test("the examples of toolkits are formatted and linted", async () => {
  await runThere(["fmt", "--check", "--quiet"]);
  await runThere(["lint", "--quiet"]);
});

Deno.test("each example of a toolkit is run", async () => {
  const files = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => name);
  const examples = files.filter((name) => name.endsWith(".ts") && !name.startsWith("_"));
  assertEquals(examples.sort(), EXAMPLES.map(({ file }) => file));
});

Deno.test("docs/toolkits.md names each toolkit in the version that its example pins", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/toolkits.md", import.meta.url));
  const pinned = Object.entries(manifest.imports).filter(([name]) => !/^(@a2c-smcp|@std|zod)/.test(name));
  for (const [, specifier] of pinned) {
    const [, name, version] = /^npm:(.+)@([^@]+)$/.exec(specifier) ?? [];
    assert(version !== undefined && /^\d+\.\d+\.\d+$/.test(version), `${specifier} is not pinned`);
    assert(page.includes(`\`${name}\` ${version}`), `docs/toolkits.md lacks \`${name}\` ${version}`);
  }
});

Deno.test("the examples of toolkits use the versions of this package and of the MCP SDK that it has itself", () => {
  assertEquals(manifest.imports["@a2c-smcp/sdk"], `jsr:@a2c-smcp/sdk@${sdk.version}`);
  assertEquals(manifest.imports["@modelcontextprotocol/sdk"], sdk.imports["@modelcontextprotocol/sdk"]);
});
