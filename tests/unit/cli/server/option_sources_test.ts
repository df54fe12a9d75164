import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Command } from "commander";
import { UsageError } from "../../../../src/cli/outcome.ts";
import { completeOptions } from "../../../../src/cli/server/option_sources.ts";
import { serverOptionGroups } from "../../../../src/cli/server/options.ts";

interface Sources {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
}

/** The options that a command line, the environment of switches and a file lead to. */
async function read({ args = [], env = {}, file }: Sources): Promise<Record<string, unknown>> {
  const path = await Deno.makeTempFile({ suffix: ".json" });
  try {
    if (file !== undefined) await Deno.writeTextFile(path, file);
    const program = new Command().exitOverride().configureOutput({ outputError: () => {} });
    for (const { options } of serverOptionGroups()) {
      for (const option of options) program.addOption(option);
    }
    program.parse([...args, ...file === undefined ? [] : ["--config", path]], { from: "user" });
    await completeOptions(program, (name) => env[name]);
    return program.opts();
  } finally {
    await Deno.remove(path);
  }
}

/** The message with which a file is refused. */
async function refusalOf(file: string): Promise<string> {
  return (await assertRejects(() => read({ file }), UsageError)).message;
}

Deno.test("completeOptions() reads numbers, times, lists and switches from a JSON file with comments", async () => {
  const options = await read({
    file: `{
      "$schema": "./server.schema.json",
      // the office of the lab
      "port": 8080,
      "ping-interval": "25s",
      "allow-origin": ["https://a.example", "https://b.example"],
      "token": ["one", "two, three"],
      "allow-anonymous": true,
    }`,
  });
  assertEquals(options["port"], 8080);
  assertEquals(options["pingIntervalMs"], 25_000);
  assertEquals(options["allowedOrigins"], ["https://a.example", "https://b.example"]);
  assertEquals(options["token"], ["one", "two, three"]);
  assertEquals(options["allowAnonymous"], true);
  assertEquals(options["pingTimeoutMs"], 20_000, "a default");
});

Deno.test("completeOptions() lets the command line override the file, and the environment as well", async () => {
  const file = '{ "port": 1, "host": "file", "allow-anonymous": false, "allow-unversioned": true }';
  const options = await read({
    args: ["--port", "2"],
    env: { A2C_ALLOW_ANONYMOUS: "true", A2C_ALLOW_UNVERSIONED: "false" },
    file,
  });
  assertEquals([options["port"], options["host"]], [2, "file"]);
  assertEquals([options["allowAnonymous"], options["allowUnversioned"]], [true, false]);
});

Deno.test("completeOptions() does not take the mere presence of a switch in the environment as a yes", async () => {
  for (const word of ["false", "0", "no", "off", ""]) {
    const options = await read({ env: { A2C_ALLOW_ANONYMOUS: word } });
    assertEquals(options["allowAnonymous"], false, word);
  }
  for (const word of ["true", "1", "yes", "on"]) {
    assertEquals((await read({ env: { A2C_ALLOW_ANONYMOUS: word } }))["allowAnonymous"], true, word);
  }
  const error = await assertRejects(() => read({ env: { A2C_ALLOW_ANONYMOUS: "maybe" } }), UsageError);
  assertStringIncludes(error.message, "A2C_ALLOW_ANONYMOUS");
});

Deno.test("completeOptions() refuses a file with the line, the key and what is wrong", async () => {
  assertStringIncludes(await refusalOf('{\n  "prot": 1\n}'), 'line 2, column 3: "prot": unknown option');
  assertStringIncludes(await refusalOf('{ "prot": 1 }'), 'did you mean "port"');
  assertStringIncludes(await refusalOf('{ "port": "many" }'), '"port": Expected a port');
  assertStringIncludes(await refusalOf('{ "allow-anonymous": "yes" }'), "expected true or false");
  assertStringIncludes(await refusalOf('{ "tls-cert": 3 }'), "expected a string");
  const refusal = await refusalOf('{ "host": ["a"] }');
  assertEquals([refusal.includes("expected a string"), refusal.includes("number")], [true, false]);
  assertStringIncludes(await refusalOf('{ "max-payload": [1] }'), "expected a string or a number");
  assertStringIncludes(await refusalOf('{ "port": 1, "port": 2 }'), "duplicate");
  assertStringIncludes(await refusalOf('{ "port": 1'), "line 1");
  assertStringIncludes(await refusalOf("[]"), "expected an object");
  assertStringIncludes(await refusalOf('{ "config": "other.json" }'), "unknown option");
  assertStringIncludes(
    await refusalOf('{ "grace": "1s" }'),
    '"grace": it was removed; the value is always 5s',
  );
});

Deno.test("completeOptions() shows no secret of a file that it refuses", async () => {
  assertEquals((await refusalOf('{ "token": { "s3cret": 1 } }')).includes("s3cret"), false);
  assertEquals((await refusalOf('{ "token": "s3cret" "port": 1 }')).includes("s3cret"), false);
});

Deno.test("an option of several words takes them from one text, as in the environment", async () => {
  const options = await read({ args: ["--allow-origin", "https://a.example, https://b.example"] });
  assertEquals(options["allowedOrigins"], ["https://a.example", "https://b.example"]);
});

Deno.test("the tolerance of the clock may be 0, and no other time", async () => {
  assertEquals((await read({ args: ["--jwt-clock-tolerance", "0"] }))["jwtClockToleranceMs"], 0);
  assertEquals((await read({ file: '{ "jwt-clock-tolerance": "0s" }' }))["jwtClockToleranceMs"], 0);
  assertStringIncludes(await refusalOf('{ "drain-timeout": 0 }'), "above 0");
  assertStringIncludes(await refusalOf('{ "drain-timeout": "25h" }'), "at most 24h");
});
