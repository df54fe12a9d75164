import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { HostedInputs, readInputFile } from "../../../../src/cli/computer/hosted_inputs.ts";
import { ConfigurationError } from "../../../../src/mcp/errors.ts";
import type { InputSource } from "../../../../src/computer/inputs/sources.ts";
import type { MCPServerInput } from "../../../../src/protocol/config.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

const KEY: MCPServerInput = { type: "promptString", id: "key", description: "" };
const request = (input: MCPServerInput) => ({ input, server: "a", signal: new AbortController().signal });

interface Setup {
  readonly variables?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly ask?: InputSource;
}

function inputsOf({ variables = {}, ...rest }: Setup): HostedInputs {
  return new HostedInputs({
    environment: (name) => variables[name],
    remedy: (id) => `set ${id} somewhere`,
    ...rest,
  });
}

Deno.test("the environment comes before the file, and the file before a question", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, '{"key":"from file"}');
  const ask = () => "asked";
  const variables = { A2C_INPUT_KEY: "from environment" };
  const all = inputsOf({ variables, file, ask });
  assertEquals([await all.source("key", request(KEY)), await all.originOf(KEY)], [
    "from environment",
    "environment",
  ]);
  const two = inputsOf({ file, ask });
  assertEquals([await two.source("key", request(KEY)), await two.originOf(KEY)], ["from file", "file"]);
  const one = inputsOf({ ask });
  assertEquals([await one.originOf(KEY), await one.source("key", request(KEY))], ["missing", "asked"]);
  assertEquals(await one.originOf(KEY), "terminal");
  await Deno.remove(file);
});

Deno.test("an input is asked for once, however many servers wait, until its answer is forgotten", async () => {
  let count = 0;
  const inputs = inputsOf({ ask: () => Promise.resolve(`answer ${++count}`) });
  const ask = () => inputs.source("key", request(KEY));
  assertEquals(await Promise.all([ask(), ask(), ask()]), ["answer 1", "answer 1", "answer 1"]);
  assertEquals([inputs.forget("key"), inputs.forget("key")], [true, false]);
  await assertRejects(() => Promise.resolve(ask()), ConfigurationError, "no value; set key somewhere");
  inputs.askAgain();
  assertEquals(await ask(), "answer 2");
});

Deno.test("a server that stops does not withdraw a question that another server waits for", async () => {
  const answer = Promise.withResolvers<string>();
  const asked: AbortSignal[] = [];
  const inputs = inputsOf({
    ask: (_id, { signal }) => {
      asked.push(signal);
      const gone = new Promise<undefined>((resolve) =>
        signal.addEventListener("abort", () => resolve(undefined))
      );
      return Promise.race([answer.promise, gone]);
    },
  });
  const first = new AbortController();
  const stopped = inputs.source("key", { ...request(KEY), signal: first.signal });
  const other = inputs.source("key", request(KEY));
  first.abort();
  answer.resolve("hunter2");
  assertEquals(await other, "hunter2");
  await stopped;
});

Deno.test("the user is not asked for an input with a default or a command", async () => {
  const inputs = inputsOf({ ask: () => "asked" });
  const preset = { ...KEY, default: "x" };
  const command: MCPServerInput = { type: "command", id: "key", description: "", command: "echo" };
  assertEquals([await inputs.source("key", request(preset)), await inputs.originOf(preset)], [
    undefined,
    "default",
  ]);
  assertEquals([await inputs.source("key", request(command)), await inputs.originOf(command)], [
    undefined,
    "command",
  ]);
});

const isPosix = Deno.build.os !== "windows";

async function withFile(text: string, mode: number, work: (path: string) => Promise<void>): Promise<void> {
  using folder = new TempFolder();
  const path = join(folder.path, "inputs.json");
  await Deno.writeTextFile(path, text);
  if (isPosix) await Deno.chmod(path, mode);
  await work(path);
}

Deno.test("values of inputs come from a private JSON file, with their types", async () => {
  await withFile('{ "key": "s3cret", "port": 8080, "fast": true }', 0o600, async (path) => {
    assertEquals([...await readInputFile(path)], [["key", "s3cret"], ["port", 8080], ["fast", true]]);
  });
});

Deno.test({
  name: "a file that other users can access is refused, with the command that fixes it",
  ignore: !isPosix,
  async fn() {
    for (const mode of [0o640, 0o604, 0o666]) {
      await withFile('{ "key": "s3cret" }', mode, async (path) => {
        const error = await assertRejects(() => readInputFile(path), TypeError, `chmod 600 ${path}`);
        assertEquals(error.message.includes("s3cret"), false);
      });
    }
  },
});

Deno.test("a file without an object of plain values is refused, and the message shows no value", async () => {
  for (const text of ["s3cret", '["s3cret"]', '{ "key": { "a": "s3cret" } }', '{ "key": null }', "{"]) {
    await withFile(text, 0o600, async (path) => {
      const error = await assertRejects(() => readInputFile(path), TypeError, "it must be a JSON object");
      assertEquals(error.message.includes("s3cret"), false);
    });
  }
});

Deno.test("a missing file and a folder are refused, and the message has the path", async () => {
  await assertRejects(() => readInputFile("/no/such/inputs.json"), TypeError, '"/no/such/inputs.json"');
  await assertRejects(() => readInputFile("/"), TypeError, "Cannot read inputs");
});
