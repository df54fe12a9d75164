import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { exchange } from "../attacks/_raw_http.ts";
import { type DoorOutcome, startDoor } from "../fixtures/door.ts";
import { runHosted, startHosted } from "../fixtures/hosted_door.ts";
import { RawPeer } from "./_socket.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { isWindows } from "../fixtures/system.ts";

interface Started {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly permissions?: readonly string[];
}

/** Runs until the program ends by itself. */
function run({ args, env }: Omit<Started, "permissions">): Promise<DoorOutcome> {
  return runHosted("server.ts", args, { env });
}

/** The address in the one line on standard output, which is a log line where these are JSON. */
function addressOf(line: string): string {
  if (line.startsWith("{")) return JSON.parse(line).url;
  assertMatch(line, /^listening on http:\/\/[^\n]+:\d+\n$/);
  return line.slice("listening on ".length).trim();
}

/** Runs until `use` is done, then asks it to end; with permissions as a process of its own. */
async function serve(
  { args, env, permissions }: Started,
  use: (url: string) => Promise<void>,
  signal: Deno.Signal = "SIGINT",
): Promise<DoorOutcome> {
  await using program = permissions === undefined
    ? startHosted("server.ts", args, { env })
    : startDoor("server.ts", args, { env, permissions });
  await program.stdout.until("\n");
  const line = program.stdout.text;
  try {
    await use(addressOf(line));
  } finally {
    program.kill(signal);
  }
  const outcome = await program.end();
  assertEquals(outcome.stdout, line, "nothing else on stdout");
  return outcome;
}

Deno.test("server.ts prints where it listens, serves, and ends with 0 on Ctrl-C, SIGTERM and SIGHUP", {
  ignore: isWindows,
}, async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const { code, stderr } = await serve({ args: ["--port", "0"], permissions: ["-A"] }, async (url) => {
      const peer = await RawPeer.join(url, { role: "agent", name: "ada", office_id: "lab" });
      await peer[Symbol.asyncDispose]();
    }, signal);
    assertEquals(code, 0);
    assertStringIncludes(stderr, "need no credentials");
    assertEquals(stderr.includes("SIGHUP ends the Server"), signal === "SIGHUP");
  }
});

Deno.test("server.ts ends at once while peers are connected", { ignore: isWindows }, async () => {
  let peer: RawPeer | undefined;
  const { code } = await serve({ args: ["--port", "0"], permissions: ["-A"] }, async (url) => {
    peer = await RawPeer.join(url, { role: "computer", name: "laptop", office_id: "lab" });
  });
  assertEquals(code, 0);
  await peer?.disconnected;
  await peer?.[Symbol.asyncDispose]();
});

Deno.test("server.ts needs the network only, and takes its options from the environment that it is given", {
  ignore: isWindows,
}, async () => {
  const permissions = ["--allow-net", "--ignore-env", "--allow-env=PORT,A2C_TOKEN"];
  const env = { PORT: "0", A2C_TOKEN: "s3cret" };
  const { code, stderr } = await serve({ args: [], env, permissions }, async (url) => {
    await using _peer = await RawPeer.connect(url, { auth: { token: "s3cret" } });
  });
  assertEquals([code, stderr.includes("s3cret")], [0, false]);
  const closed = { args: ["--port", "0"], env, permissions: ["--allow-net", "--ignore-env"] };
  await serve(closed, async (url) => {
    await using _peer = await RawPeer.connect(url);
  });
});

Deno.test("a Server that other machines reach warns of tokens that can be guessed", async () => {
  using folder = new TempFolder();
  const file = `${folder.path}/tokens.txt`;
  await Deno.writeTextFile(file, `${"x".repeat(16)} name=ada\nhallo name=pc\n`);
  const warn = async (host: string, ...others: readonly string[]) => {
    const args = ["--port", "0", "--host", host, "--token-file", file, "--log-format", "json", ...others];
    const { stderr } = await serve({ args }, () => Promise.resolve());
    const lines = stderr.split("\n").filter((line) => line.includes("less than 16 characters"));
    return lines.map((line) => JSON.parse(line)).map(({ option, place }) => ({ option, place }));
  };
  const warned = [{ option: "--token-file", place: "line 2" }];
  assertEquals(await warn("0.0.0.0"), warned);
  assertEquals(await warn("127.0.0.1", "--trust-proxy", "loopback"), warned);
  assertEquals(await warn("127.0.0.1"), []);
});

Deno.test("server.ts admits whom its options say", async () => {
  const args = ["--port", "0", "--host", "0.0.0.0", "--token", "a", "--token", "b", "--auth-field", "key"];
  const { code } = await serve(
    { args: [...args, "--accept", "0.2", "--log-format", "json"] },
    async (raw) => {
      const url = raw.replace("0.0.0.0", "127.0.0.1");
      for (const key of ["a", "b"]) {
        await using _peer = await RawPeer.connect(url, { auth: { key } });
      }
      const answer = await fetch(`${url}/socket.io/?EIO=4&transport=polling&a2c_version=0.3.0`);
      assertEquals((await answer.json()).max_supported, "0.2.999");
    },
  );
  assertEquals(code, 0);
});

Deno.test("server.ts refuses another host without credentials unless it is told to serve anyone", async () => {
  const { code, stdout, stderr } = await run({ args: ["--host", "0.0.0.0", "--port", "0"] });
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(stderr, 'error: Cannot serve on "0.0.0.0" without credentials');
  for (const option of ["--token TOKEN", "--token-file FILE", "--allow-anonymous"]) {
    assertStringIncludes(stderr, option);
  }
  const args = ["--host", "0.0.0.0", "--port", "0", "--allow-anonymous"];
  assertEquals((await serve({ args }, () => Promise.resolve())).code, 0);
});

Deno.test("server.ts reads tokens from a file, so that none stands in its command line", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "first\n\n  second\r\n");
  const args = ["--port", "0", "--token-file", file, "--token", "third"];
  await serve({ args }, async (url) => {
    for (const token of ["first", "second", "third"]) {
      await using _peer = await RawPeer.connect(url, { auth: { token } });
    }
  });
  await Deno.writeTextFile(file, "\n");
  const empty = await run({ args: ["--token-file", file] });
  assertEquals(empty.code, 2);
  assertStringIncludes(empty.stderr, "no token");
  await Deno.remove(file);
  const missing = await run({ args: ["--token-file", file] });
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, `Cannot read token file "${file}": no such file`);
});

Deno.test("server.ts refuses a token file that is not a regular file, and does not wait for it", {
  ignore: isWindows,
}, async () => {
  using folder = new TempFolder();
  const pipe = `${folder.path}/tokens`;
  assertEquals((await new Deno.Command("mkfifo", { args: [pipe] }).output()).code, 0);
  for (const file of [pipe, folder.path]) {
    const { code, stderr } = await run({ args: ["--token-file", file] });
    assertEquals(code, 2);
    assertStringIncludes(stderr, `Cannot read token file "${file}": "${file}" is not a regular file`);
  }
});

Deno.test("server.ts takes its host from A2C_HOST, and not from a HOST that is set for other programs", async () => {
  const env = { HOST: "x86_64-conda-linux-gnu", A2C_HOST: "localhost", PORT: "0" };
  await serve({ args: [], env }, (url) => {
    assertEquals(new URL(url).hostname, "localhost");
    return Promise.resolve();
  });
});

Deno.test("server.ts serves the names that --allow-host gives", async () => {
  await serve({ args: ["--port", "0", "--allow-host", "hub.example"] }, async (url) => {
    for (const [host, status] of [["hub.example", 200], ["evil.example", 403]] as const) {
      const answer = await exchange(Number(new URL(url).port), {
        target: "/healthz",
        headers: { Host: host },
      });
      assertEquals(answer.status, status);
    }
  });
});

Deno.test("server.ts takes options from a file, which the environment and the command line override", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const text =
      '{ "port": 1, "path": "/file/", "token": ["s3cret"], "allow-anonymous": true, // a comment\n }';
    await Deno.writeTextFile(file, text);
    const env = { A2C_SERVER_CONFIG: file, PORT: "2", A2C_ALLOW_ANONYMOUS: "false" };
    await serve({ args: ["--port", "0"], env }, async (url) => {
      await using _peer = await RawPeer.connect(url, { path: "/file/", auth: { token: "s3cret" } });
    });
    await Deno.writeTextFile(file, '{ "hosts": "0.0.0.0" }');
    const { code, stderr } = await run({ args: ["--config", file] });
    assertEquals(code, 2);
    assertStringIncludes(stderr, 'line 1, column 3: "hosts": unknown option; did you mean "host"?');
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("server.ts says in one line what is wrong with its options", async () => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [["--port", "70000"], "port from 0 to 65535"],
    [["--token", ""], "A2C_TOKEN"],
    [["--accept", "two"], 'version "two"'],
    [["--path", "hub"], 'Cannot serve path "hub"'],
    [["--allow-origin", "app.example"], "a scheme and a host such as https://app.example"],
    [["--port", "3999", "--metrics-port", "3999"], "choose another --port or --metrics-port"],
    [["--nonsense"], "unknown option"],
    [["extra"], 'Cannot run "extra": unknown command'],
  ];
  const outcomes = await Promise.all(wrong.map(([args]) => run({ args: ["--port", "0", ...args] })));
  for (const [index, { code, stderr }] of outcomes.entries()) {
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, wrong[index]?.[1] ?? "");
    assert(!stderr.includes("    at "), "no stack");
  }
});

Deno.test("server.ts warns of options that have no effect", async () => {
  const args = [
    ...["--port", "0", "--token", "s3cret", "--allow-anonymous", "--redis-prefix", "office"],
    ...["--metrics-host", "0.0.0.0", "--max-payload", "64MiB", "--max-message-memory", "32MiB"],
  ];
  const { stderr } = await serve({ args }, () => Promise.resolve());
  for (
    const warning of [
      "--allow-anonymous has no effect: clients need credentials",
      "--redis-prefix has no effect without --redis",
      "--metrics-host has no effect without --metrics-port",
      "--max-message-memory is smaller than --max-payload",
    ]
  ) assertStringIncludes(stderr, warning);
});

Deno.test("server.ts ends with 1 when its port is in use", async () => {
  await serve({ args: ["--port", "0"] }, async (url) => {
    const { code, stderr } = await run({ args: ["--port", new URL(url).port] });
    assertEquals(code, 1);
    assertStringIncludes(
      stderr,
      `error: Cannot listen on "127.0.0.1:${new URL(url).port}": the port is in use; choose another --port`,
    );
    const second = await run({ args: ["--port", "0", "--metrics-port", new URL(url).port] });
    assertEquals(second.code, 1);
    assertStringIncludes(second.stderr, "the port is in use; choose another --metrics-port");
  });
});

Deno.test("server.ts says which command is meant by one that it does not know", async () => {
  const { code, stderr } = await run({ args: ["office", "lab"] });
  assertEquals(code, 2);
  assertStringIncludes(stderr, 'error: Cannot run "office": unknown command; did you mean "offices"?');
});

Deno.test("server.ts shows its help and its version", async () => {
  const help = await run({ args: ["--help"] });
  assertEquals(help.code, 0);
  for (const option of ["--host", "--port", "--token", "--allow-anonymous", "--accept"]) {
    assertStringIncludes(help.stdout, option);
  }
  for (const variable of ["A2C_HOST", "PORT", "A2C_TOKEN"]) {
    assertMatch(help.stdout, new RegExp(`env:\\s+${variable}\\)`));
  }
  const version = await run({ args: ["--version"] });
  assertEquals(version.code, 0);
  assertMatch(version.stdout, /^server \d+\.\d+\.\d+ \(protocol 0\.2\.0\)\n$/);
});
