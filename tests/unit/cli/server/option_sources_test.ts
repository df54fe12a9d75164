import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Command } from "commander";
import { UsageError } from "../../../../src/cli/outcome.ts";
import { completeOptions, misspeltVariables } from "../../../../src/cli/server/option_sources.ts";
import { serverOptionGroups } from "../../../../src/cli/server/options.ts";
import { createAgentProgram } from "../../../../src/cli/agent/main.ts";
import { createComputerProgram } from "../../../../src/cli/computer/main.ts";
import { everyCommand } from "../../../../src/cli/program.ts";
import { createHubProgram } from "../../../../src/cli/hub/main.ts";
import { createServerProgram } from "../../../../src/cli/server/main.ts";

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

const program = createServerProgram(new AbortController().signal);

Deno.test("a variable of the environment that clients read as well means the same to the Server", () => {
  const { signal } = new AbortController();
  const variablesOf = (program: Command) =>
    new Set(
      [...everyCommand(program)].flatMap(({ options }) =>
        options.flatMap(({ envVar }) => envVar === undefined ? [] : [envVar])
      ),
    );
  const server = variablesOf(createServerProgram(signal));
  const clients = variablesOf(createAgentProgram(signal)).union(variablesOf(createComputerProgram(signal)))
    .union(variablesOf(createHubProgram(signal)).difference(server));
  const shared = server.intersection(clients);
  assertEquals([...shared].toSorted(), [
    "A2C_LOG_FORMAT",
    "A2C_LOG_LEVEL",
    "A2C_PATH",
    "A2C_TOKEN",
    "A2C_TOKEN_FILE",
  ]);
  assertEquals(misspeltVariables(program, [...clients]), [
    "environment variable A2C_ACTIVITY_LOG has no effect: a hub and a gateway write this log, a Server reads no calls",
  ]);
});

Deno.test("misspeltVariables() warns of variables that are nearly those of the Server, and of no other", () => {
  const variables = [
    "A2C_PINGINTERVAL",
    "A2C_PORT",
    "A2C_TOKEN",
    "A2C_URL",
    "A2C_INPUT_KEY",
    "PORT",
    "POST",
    "HOME",
  ];
  assertEquals(misspeltVariables(program, variables), [
    "environment variable A2C_PINGINTERVAL has no effect; did you mean A2C_PING_INTERVAL?",
    "environment variable A2C_PORT has no effect; did you mean PORT?",
  ]);
});

Deno.test("misspeltVariables() prefers the variable with which a name begins, or that begins with it", () => {
  const meant: Readonly<Record<string, string>> = {
    A2C_HOSTNAME: "A2C_HOST",
    A2C_METRICS: "A2C_METRICS_PORT",
    A2C_MAX_CONNECTIONS: "A2C_MAX_CONNECTIONS_PER_PRINCIPAL",
    A2C_PING_INTERVAL_MS: "A2C_PING_INTERVAL",
  };
  for (const [name, other] of Object.entries(meant)) {
    assertEquals(misspeltVariables(program, [name]), [
      `environment variable ${name} has no effect; did you mean ${other}?`,
    ]);
  }
});

Deno.test("misspeltVariables() refuses what is nearly a variable that protects the Server", () => {
  const refused: Readonly<Record<string, string>> = {
    A2C_TLS_CERT_FILE: 'did you mean "A2C_TLS_CERT"?',
    A2C_TLS_KEY_FILE: 'did you mean "A2C_TLS_KEY"?',
    A2C_TLS: 'did you mean "A2C_TLS_CERT"?',
    A2C_TLS_ENABLED: "known: A2C_TLS_CERT, A2C_TLS_KEY",
    A2C_TSL_CERT: 'did you mean "A2C_TLS_CERT"?',
    A2C_TOKEN_FLIE: 'did you mean "A2C_TOKEN',
    A2C_TOKENFILE: 'did you mean "A2C_TOKEN_FILE"?',
    A2C_TOKENS: 'did you mean "A2C_TOKEN"?',
    A2C_TOKENS_FILE: 'did you mean "A2C_TOKEN_FILE"?',
    A2C_AUTH_TOKEN: "known: A2C_AUTH_FIELD, A2C_AUTH_HEADER",
    A2C_METRICS_TOKEN_FLIE: 'did you mean "A2C_METRICS_TOKEN',
    A2C_REDIS: 'did you mean "A2C_REDIS_URL"?',
    A2C_REDIS_URI: 'did you mean "A2C_REDIS_URL"?',
    A2C_REDIS_HOST: "known: A2C_REDIS_URL, A2C_REDIS_PREFIX",
    A2C_AUDIT: 'did you mean "A2C_AUDIT_LOG"?',
    A2C_AUDIT_LOG_FILE: 'did you mean "A2C_AUDIT_LOG"?',
  };
  for (const [name, hint] of Object.entries(refused)) {
    const message = `Cannot use environment variable ${name}: unknown option; ${hint}`;
    assertThrows(() => misspeltVariables(program, ["HOME", name]), UsageError, message);
  }
});

Deno.test("misspeltVariables() takes no variable of Kubernetes, of an input or of another program for a slip", () => {
  const others = [
    "A2C_REDIS_SERVICE_HOST",
    "A2C_REDIS_SERVICE_PORT",
    "A2C_REDIS_SERVICE_PORT_REDIS",
    "A2C_REDIS_PORT_6379_TCP",
    "A2C_REDIS_PORT_6379_TCP_ADDR",
    "A2C_PORT_3000_TCP",
    "A2C_INPUT_TOKEN",
    "A2C_INPUT_TLS_KEY",
    "A2C_SITE",
    "A2C_TEST_SIZE",
    "REDIS_URL",
  ];
  assertEquals(misspeltVariables(program, others), []);
  assertEquals(misspeltVariables(program, ["A2C_REDIS_PORT"]), [
    "environment variable A2C_REDIS_PORT has no effect; did you mean A2C_REDIS_URL?",
  ]);
});
