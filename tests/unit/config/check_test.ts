import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { reportText } from "../../../src/cli/computer/check.ts";
import { checkConfigFile, checkConfigText, type ConfigChecks } from "../../../src/config/check.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

const folder = new URL("../../fixtures/configs/", import.meta.url);
const fileOf = (name: string) => fromFileUrl(new URL(name, folder));
/** A program that is there on every system. */
const deno = Deno.execPath();

Deno.test("a report lists servers, inputs and variables, and their users", async () => {
  const file = fileOf("smcp.jsonc");
  assertEquals(await checkConfigFile(file), {
    file,
    form: "smcp",
    servers: [
      { name: "files", type: "stdio", disabled: false, needsSignIn: false },
      { name: "search", type: "streamable", disabled: true, needsSignIn: false },
      { name: "events", type: "sse", disabled: false, needsSignIn: false },
    ],
    inputs: [
      { id: "folder", type: "pickString", hasValue: true, isSet: null, usedBy: ["files"] },
      { id: "token", type: "promptString", hasValue: false, isSet: null, usedBy: ["search"] },
      { id: "patience", type: "command", hasValue: true, isSet: null, usedBy: ["events"] },
    ],
    variables: [
      { name: "LOG_LEVEL", hasDefault: true, isSet: null, usedBy: ["files"] },
      { name: "TERMINATE", hasDefault: true, isSet: null, usedBy: ["search"] },
    ],
    warnings: [],
    failures: [],
    problems: [],
  });
});

Deno.test("a report has the valid servers beside the problems", async () => {
  const text = '{"servers": {\n"a": {"command": "run", "args": ["${env:TOKEN}"], "x": 1},\n"b": {}\n}}';
  const { servers, variables, warnings, problems } = await checkConfigText(text, { file: "my.json" });
  assertEquals(servers.map(({ name }) => name), ["a"]);
  assertEquals(variables, [{ name: "TOKEN", hasDefault: false, isSet: null, usedBy: ["a"] }]);
  assertEquals(warnings.map(({ line, path }) => [line, path]), [[2, "servers.a.x"]]);
  assertEquals(problems.map(({ line, path }) => [line, path]), [[3, "servers.b"]]);
});

Deno.test("a VRL script that does not compile is a problem with its line", async () => {
  const text =
    '{"servers": {"a": {"command": "run",\n"vrl": "bad"}, "b": {"command": "run", "vrl": "good"}}}';
  const vrl = (script: string) => Promise.resolve(script === "bad" ? "does not compile: line 1" : undefined);
  const { problems } = await checkConfigText(text, { file: "my.json", checks: { vrl } });
  assertEquals(problems, [{
    line: 2,
    column: 1,
    path: "servers.a.vrl",
    message: "does not compile: line 1",
  }]);
});

Deno.test("a file that cannot be read is a problem of the report", async () => {
  for (const [name, state] of [["none.json", "no such file"], ["project", "it is a folder"]] as const) {
    const { form, problems } = await checkConfigFile(fileOf(name));
    assertEquals([form, problems.length], [null, 1]);
    assertStringIncludes(problems[0]?.message ?? "", state);
  }
});

Deno.test("the text of a report is a summary with the place of each finding", async () => {
  const text = `{
  "servers": {
    "weather": { "command": "python", "args": ["\${input:units}", "\${env:HOME}"], "envFil": "x" },
    "broken": { "type": "htp", "url": "http://x" }
  },
  "inputs": [
    { "id": "units", "type": "pickString", "options": ["metric"] },
    { "id": "spare", "type": "promptString", "default": "" }
  ]
}`;
  const report = await checkConfigText(text, { file: "mcp.json" });
  assertEquals(
    reportText(report),
    `mcp.json: servers (VS Code …), 1 server

  server    weather  stdio
  input     units    pickString    for weather, from A2C_INPUT_UNITS, --inputs FILE, or asked at a terminal
  input     spare    promptString  not used, has a default
  variable  HOME     must be set   for weather

mcp.json:4:17 error: servers.broken.type: must be one of "stdio", "http", "sse", "documents"; did you mean "http"?
mcp.json:3:82 warning: servers.weather.envFil: unknown key, ignored; did you mean "envFile"?
mcp.json:8:5 warning: inputs[1]: input "spare" is not used by any server

1 error, 2 warnings`,
  );
  const ready = await checkConfigText('{"servers": {}}', { file: "c.json" });
  assertEquals(reportText(ready), "c.json: A2C-SMCP, 0 servers\n\nno servers");
});

Deno.test("a report shows which variables are set when it may read the environment", async () => {
  const text = `{
  "mcpServers": { "a": { "command": "x", "args": ["\${A}", "\${B}", "\${input:key}"] } },
  "inputs": [{ "id": "key", "type": "promptString" }]
}`;
  const checks = {
    environment: (name: string) => name === "A" || name === "A2C_INPUT_KEY" ? "s3cret" : undefined,
  };
  const report = await checkConfigText(text, { file: "mcp.json", checks });
  assertEquals(
    reportText(report),
    `mcp.json: mcpServers (Claude, Cursor …), 1 server

  server    a    stdio
  input     key  promptString  for a, is set
  variable  A    is set        for a
  variable  B    is not set    for a

ready to use after these environment variables are set: B`,
  );
  assertEquals(JSON.stringify(report).includes("s3cret"), false);
});

Deno.test("a report names the inputs that have no value yet, unless no server that starts needs them", async () => {
  const text = JSON.stringify({
    mcpServers: {
      a: { command: "x", args: ["${input:key}", "${input:region}", "${input:unit}", "${B}"] },
      off: { command: "x", args: ["${input:other}", "${C}"], disabled: true },
    },
    inputs: [
      { id: "key", type: "promptString" },
      { id: "region", type: "promptString" },
      { id: "unit", type: "promptString", default: "m" },
      { id: "other", type: "promptString" },
    ],
  });
  const environment = () => undefined;
  const verdictOf = async (checks: ConfigChecks) =>
    reportText(await checkConfigText(text, { file: "mcp.json", checks })).split("\n").at(-1);
  assertEquals(
    await verdictOf({ environment }),
    "ready to use after these environment variables are set: B; and these inputs have values: " +
      "key (A2C_INPUT_KEY, --inputs FILE, or a terminal that asks), " +
      "region (A2C_INPUT_REGION, --inputs FILE, or a terminal that asks)",
  );
  assertEquals(
    await verdictOf({ environment: () => "set", givenInputs: new Set(["key", "region"]) }),
    "ready to use",
  );
  assertEquals(
    await verdictOf({
      environment: (name) => name === "B" ? "b" : undefined,
      givenInputs: new Set(["key", "region"]),
    }),
    "ready to use",
  );
});

/** The messages of a report by their kind. */
async function programsOf(servers: Readonly<Record<string, unknown>>, file = "c.json") {
  const text = JSON.stringify({ mcpServers: servers });
  const { warnings, failures } = await checkConfigText(text, { file, checks: { programs: true } });
  const show = ({ path, message }: { path: string; message: string }) => `${path} ${message}`;
  return { warnings: warnings.map(show), failures: failures.map(show) };
}

Deno.test("a missing program is a failure, with a fix", async () => {
  const { failures } = await programsOf({
    here: { command: deno },
    absent: { command: "no-such-program-42" },
    line: { command: "deno run --allow-all server.ts" },
    script: { command: "./no-such-script.sh" },
    off: { command: "no-such-program-42", disabled: true },
    asked: { command: "${env:PROGRAM}" },
    elsewhere: { command: "no-such-program-42", env: { PATH: "${env:OTHER_PATH}" } },
    folder: { command: deno, cwd: "/no/such/folder" },
  });
  const begin = failures.map((failure) => failure.split(";")[0]);
  assertEquals(begin, [
    'mcpServers.absent.command program "no-such-program-42" not found on the PATH',
    "mcpServers.line.command looks like a command line",
    'mcpServers.script.command no executable file "./no-such-script.sh"',
    'mcpServers.folder.cwd no such folder "/no/such/folder"',
  ]);
  assertEquals(failures.join().includes("--allow-all"), false);
});

Deno.test("folders of skills and uploads that cannot be used are warnings", async () => {
  const file = fileOf("smcp.jsonc");
  const text = JSON.stringify({
    servers: {},
    protocol_version: "0.4",
    skills: ["/no/such/folder", file],
    uploads: file,
  });
  const { warnings } = await checkConfigText(text, { file: "my.json", checks: { programs: true } });
  assertEquals(warnings.map(({ path, message }) => `${path} ${message}`), [
    'skills[0] no such folder "/no/such/folder"',
    `skills[1] "${file}" is a file; give the folder that it is in`,
    `uploads "${file}" is a file; give a folder`,
  ]);
});

Deno.test("check searches programs on the PATH of the server", async () => {
  using folder = new TempFolder();
  // The ending counts on Windows, and the mode elsewhere.
  const name = Deno.build.os === "windows" ? "my-server.cmd" : "my-server";
  await Deno.writeTextFile(`${folder.path}/${name}`, "#!/bin/sh\n", { mode: 0o755 });
  await Deno.writeTextFile(`${folder.path}/my-text`, "");
  const { failures } = await programsOf({
    a: { command: "my-server", env: { PATH: folder.path } },
    b: { command: "./my-server", cwd: folder.path },
    c: { command: "my-text", env: { PATH: folder.path } },
  });
  assertEquals(failures.map((failure) => failure.split(" ")[0]), ["mcpServers.c.command"]);
});

Deno.test("a missing env file and an undefined input are failures", async () => {
  const { failures } = await programsOf({
    a: { command: deno, envFile: "/no/such/.env" },
    b: { command: deno, args: ["${input:nope}"] },
    c: { command: "deno", args: ["${input:nope}"], disabled: true },
  });
  assertEquals(failures.map((failure) => failure.split(",")[0]), [
    'mcpServers.b.args[0] uses input "nope"',
    'mcpServers.a.envFile no such file "/no/such/.env"',
  ]);
  const report = await checkConfigText('{"mcpServers": {"a": {"command": "x", "args": ["${input:k}"]}}}', {
    file: "c.json",
  });
  assertStringIncludes(reportText(report), 'error: mcpServers.a.args[0]: uses input "k"');
  assertStringIncludes(reportText(report), "1 error");
});

Deno.test("a report says at which servers the user has to sign in first", async () => {
  const url = "http://x/mcp";
  const service = { grant: "client_credentials", clientId: "a", clientSecret: "b" };
  const text = JSON.stringify({
    mcpServers: {
      in: { url, oauth: true },
      out: { url, oauth: { scopes: ["a"] } },
      service: { url, oauth: service },
      never: { url, oauth: false },
      open: { url },
    },
  });
  const needs = async (checks?: ConfigChecks) =>
    (await checkConfigText(text, { file: "c", ...(checks === undefined ? {} : { checks }) })).servers
      .map(({ needsSignIn }) => needsSignIn);
  assertEquals(await needs(), [null, null, false, false, false]);
  const isSignedIn = (server: string) => Promise.resolve(server === "in");
  assertEquals(await needs({ isSignedIn }), [false, true, false, false, false]);
});

Deno.test("a report says which tools have changed since they were allowed, and what becomes of them", async () => {
  const text = JSON.stringify({
    servers: Object.fromEntries(["ask", "block", "allow"].map((on_change) => [on_change, {
      type: "stdio",
      on_change,
      server_parameters: { command: "x" },
    }])),
  });
  const changedTools = () => Promise.resolve(new Map([["run", "its description"]]));
  const { warnings, problems } = await checkConfigText(text, { file: "c", checks: { changedTools } });
  assertEquals(problems, []);
  assertEquals(warnings.map(({ path, message }) => [path, message]), [
    [
      "servers.ask.on_change",
      'the tool "run" has changed since it was allowed (its description): ' +
      'each call is asked about until one is answered "always"',
    ],
    [
      "servers.block.on_change",
      'the tool "run" has changed since it was allowed (its description): ' +
      'it is set aside until "tool allow" is run, or the entry is edited',
    ],
  ]);
});
