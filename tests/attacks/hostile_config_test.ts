/** Attacker: whoever wrote a configuration that somebody else checks. It is far too large, has no end, or is no config */
import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { ExitCode } from "../../src/cli/outcome.ts";
import { Workplace } from "../integration/_computer_program.ts";

const MAX_OUTPUT_LENGTH = 1_000_000;

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

/** Files by their names; a word that the report must say. */
const BOMBS: Readonly<Record<string, readonly [text: () => string, word: string]>> = {
  "nested_aliases.yaml": [
    () => `a: &a [1,1]\n${lines(30, (n) => `a${n}: &a${n} [*a${n === 0 ? "" : n - 1},*a]`)}\nservers: *a29\n`,
    "alias",
  ],
  "many_aliases.yaml": [() => `servers:\n${lines(40_000, (n) => `- &a${n} x\n- *a${n}`)}\n`, "aliases"],
  "alias_of_itself.yaml": [() => "servers: &a\n  x: *a\n", "error"],
  "deep.yaml": [() => `servers: ${"[".repeat(100_000)}`, "nested"],
  "deep.toml": [() => `servers = ${"[".repeat(100_000)}${"]".repeat(100_000)}`, "nested"],
  "deep_keys.toml": [() => `[servers.${Array(50_000).fill("a").join(".")}]`, "nested"],
  "deep.json": [() => `{"servers":${"[".repeat(100_000)}`, "nested"],
  "long.yaml": [() => `servers: [${"a,".repeat(1_000_000)}]`, "more than"],
  "long.toml": [() => lines(100_000, (n) => `[servers.a${n}]\ncommand="x"`), "more than"],
  "long.json": [() => `{"servers":"${"x".repeat(9_000_000)}"}`, "more than"],
  "many_lines.json": [() => `{${'"a":\n,'.repeat(400_000)}`, "invalid JSON"],
  "many_duplicates.json": [() => `{"servers":{\n${'"a":1,\n'.repeat(400_000)}"b":1}}`, "duplicate key"],
  "many_servers.json": [
    () => `{"mcpServers":{${lines(50_000, (n) => `"a${n}":{"command":"x"},`)}"b":{"command":"x"}}}`,
    "1000",
  ],
  "many_wrong_servers.json": [() => `{"servers":{${lines(200_000, (n) => `"a${n}":1,`)}"b":1}}`, "1000"],
  "placeholders_without_end.json": [
    () => `{"mcpServers":{"a":{"command":"x","args":["${"${env:A:-".repeat(200_000)}"]}}}`,
    "server  a",
  ],
  "null_bytes.json": [() => "\0".repeat(100_000), "invalid JSON"],
  "null_bytes.toml": [() => "\0".repeat(100_000), "invalid TOML"],
};

/** What one process says of all of them, by their names; it is started by the first test that asks. */
const reportOf = ((): (name: string) => Promise<string> => {
  let reports: Promise<ReadonlyMap<string, string>> | undefined;
  return async (name) => (await (reports ??= checkBombs())).get(name) ?? "";
})();

async function checkBombs(): Promise<ReadonlyMap<string, string>> {
  using place = new Workplace();
  const files = Object.entries(BOMBS).map(([name, [text]]) => ({ name, file: place.write(name, text()) }));
  // What is read in bounded time is read in a second or two; what is not takes longer than any program may run here.
  const { code, stdout, stderr } = await place.run(["check", ...files.map(({ file }) => file)]);
  assertEquals(code, ExitCode.USAGE, stderr.slice(0, 1_000));
  assert(!stderr.includes("    at "), stderr.slice(0, 1_000));
  assertLess(stdout.length + stderr.length, MAX_OUTPUT_LENGTH);
  const starts = files.map(({ file }) => stdout.indexOf(file));
  return new Map(files.map(({ name }, index) => [name, stdout.slice(starts[index], starts[index + 1])]));
}

for (const [name, [, word]] of Object.entries(BOMBS)) {
  Deno.test(`check reads ${name} in bounded time and says what is wrong in few words`, async () => {
    const report = await reportOf(name);
    assertStringIncludes(report.slice(0, 2_000) + report.slice(-2_000), word);
  });
}

Deno.test({
  name: "check refuses a folder, a pipe, a device and a link to itself at once",
  ignore: Deno.build.os === "windows",
  async fn() {
    using place = new Workplace();
    const paths = ["folder", "pipe", "zero", "loop"].map((name) => join(place.folder, `${name}.json`));
    const [folder = "", pipe = "", zero = "", loop = ""] = paths;
    Deno.mkdirSync(folder);
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    Deno.symlinkSync("/dev/zero", zero);
    Deno.symlinkSync(loop, loop);
    const { code, stdout } = await place.run(["check", "--json", ...paths]);
    assertEquals(code, ExitCode.USAGE);
    const reports: { problems: unknown[]; servers: unknown[] }[] = JSON.parse(stdout);
    assertEquals(reports.map(({ problems, servers }) => [problems.length, servers.length]), [
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
  },
});

/** The same in each format; the names of what every object has must be names like others. */
const PROTOTYPES: Readonly<Record<string, string>> = {
  json: '{"mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"x"},"a":{"command":"x"}},' +
    '"__proto__":{"inputs":[{"id":"i"}]}}',
  yaml: "mcpServers:\n  __proto__: {command: x}\n  constructor: {command: x}\n  a: {command: x}\n" +
    "__proto__: {inputs: [{id: i}]}\n",
  toml: '__proto__.inputs=[{id="i"}]\n[mcpServers.__proto__]\ncommand="x"\n' +
    '[mcpServers.constructor]\ncommand="x"\n[mcpServers.a]\ncommand="x"\n',
};

for (const [format, text] of Object.entries(PROTOTYPES)) {
  Deno.test(`names of every object's own members are names like others in ${format.toUpperCase()}`, async () => {
    using place = new Workplace();
    const { stdout } = await place.run(["check", "--json", place.write(`config.${format}`, text)]);
    const { servers, inputs }: { servers: { name: string }[]; inputs: unknown[] } = JSON.parse(stdout);
    assertEquals(servers.map(({ name }) => name), ["__proto__", "constructor", "a"]);
    assertEquals(inputs, []);
  });
}

Deno.test("check shows what would command a terminal as something else, as a text and as JSON", async () => {
  using place = new Workplace();
  const evil = "a\u001b[2J\u009b31m\u202ebad\r\nerror: none";
  const config = { mcpServers: { [evil]: { command: `x${evil}`, [evil]: 1, env: { [evil]: evil } } } };
  const file = place.write("config.json", config);
  for (const more of [[], ["--json"]]) {
    const { stdout, stderr } = await place.run(["check", ...more, file]);
    // deno-lint-ignore no-control-regex -- control characters are what must not be there
    assertEquals((stdout + stderr).match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/g), null);
    if (more.length === 0) assert(!stdout.includes("\nerror: none"), stdout);
    else assertEquals(JSON.parse(stdout).servers[0].name, evil);
  }
});
