// Further cases of the commands of computer.ts.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { eventually } from "../fixtures/within.ts";

const isPosix = Deno.build.os !== "windows";
const W = "window://host/w";
const D = "dpe://docs/d";
const SHOP: Script = {
  tools: [{ name: "echo", description: "Says it again", inputSchema: { type: "object" } }],
  resources: [{ uri: W }, { uri: D }],
  contents: {
    [W]: "hello",
    [D]: { doc_ref: "d", uri: D, file_uri: "file:///d", file_type: "md", title: "Plan", page_count: 1 },
  },
};

Deno.test("a command for a Computer that runs is refused with --config, and fails where none runs", async () => {
  using place = new Workplace();
  const config = place.write("config.json", { servers: {} });
  for (
    const words of [["history"], ["server", "stop", "x"], ["input", "set", "a", "b"], ["join", "lab"], [
      "quit",
    ]]
  ) {
    const { code, stderr } = await place.run([...words, "--config", config]);
    assertEquals(code, 2, words.join(" "));
    assertStringIncludes(stderr, "leave them out");
  }
  const alone = await place.run(["history", "--json"]);
  assertEquals([alone.code, alone.stdout], [3, ""]);
  assertStringIncludes(JSON.parse(alone.stderr).error.message, "Cannot find a");
});

Deno.test("tools names the MCP servers that do not run when there are no tools", async () => {
  using place = new Workplace();
  const config = place.write("config.json", {
    servers: { shop: { type: "stdio", server_parameters: { command: "no-such-program" } } },
  });
  const options = ["--config", config];
  const { code, stdout } = await place.run(["tools", ...options]);
  assertEquals(code, 1);
  assertStringIncludes(stdout, 'no tools: server "shop" failed (');
  assertStringIncludes(stdout, "no-such-program");
  const json = await place.run(["tools", ...options, "--json"]);
  assertEquals([json.code, JSON.parse(json.stdout).tools], [1, []]);
});

Deno.test("status and the log show what npm wrote of a misspelled package, the log of further failures only the error", async () => {
  using place = new Workplace();
  const lines = [
    "code E404",
    "404 Not Found",
    "404",
    "404 'x' is not in this registry.",
    "404",
    "404 Note",
    "404 url",
  ];
  const script = `for (const line of ${
    JSON.stringify([...lines, "A complete log"])
  }) console.error("npm error", line)`;
  const command = { command: Deno.execPath(), args: ["eval", `${script}; Deno.exit(1)`] };
  const config = place.write("config.json", { mcpServers: { everything: command } });
  await using server = await SmcpServer.listen({ port: 0 });
  const args = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  await using program = place.start(args);
  await program.said("INFO  mcp: MCP server retrying");
  const records = program.stderr.text.split("\n").filter((line) => line.includes("MCP server retrying"));
  assertStringIncludes(records[0] ?? "", "WARN");
  assertStringIncludes(records[0] ?? "", "is not in this registry");
  assertEquals(records[1]?.includes("npm error"), false, records[1]);
  const { stdout } = await place.run(["status"]);
  assertStringIncludes(stdout, "    npm error 404 'x' is not in this registry.");
});

Deno.test("a call names a server whose input has no value, and what is missing", async () => {
  using place = new Workplace();
  const config = place.write("config.json", {
    mcpServers: { search: { command: Deno.execPath(), env: { KEY: "${input:key}" } } },
    inputs: [{ id: "key", type: "promptString" }],
  });
  const { code, stderr } = await place.run(["call", "find", "--config", config]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "not running: search (failed: an input has no value) (4001)");
});

Deno.test("status says why a running server has no tools", async () => {
  using place = new Workplace();
  const answers = { "tools/list": { error: { code: -32603, message: "cloud is down" } } };
  const config = place.write("config.json", scriptedServers({ shop: { tools: [], answers } }));
  const text = await place.run(["status", "--config", config]);
  assertStringIncludes(
    text.stdout,
    "shop  running  0 tools  MCP 2025-06-18\n    cannot list tools: cloud is down\n",
  );
  const { stdout } = await place.run(["status", "--config", config, "--json"]);
  assertEquals(JSON.parse(stdout).servers[0].problem, "cannot list tools: cloud is down");
});

Deno.test("a tool that is listed under another name is named, and a wrong command line is exit code 2", async () => {
  using place = new Workplace();
  const config = place.write("config.json", scriptedServers({ shop: SHOP }));
  const qualified = await place.run(["call", "shop__echo", "--config", config]);
  assertEquals(qualified.code, 1);
  assertStringIncludes(qualified.stderr, 'listed as "echo"');
  for (const word of ["bogus", "call", "read", "server"]) {
    const { code, stderr } = await place.run([word, "--config", config]);
    assertEquals(code, 2, word);
    assert(stderr !== "", `${word}: says why`);
  }
});

Deno.test("a misspelled command is an error that says what was meant", async () => {
  using place = new Workplace();
  const { code, stderr } = await place.run(["statsu", "--json"]);
  assertEquals(code, 2);
  assertStringIncludes(JSON.parse(stderr).error.message, 'did you mean "status"');
});

Deno.test("an input that nobody can be asked for fails its server with what to do, and an empty value is none", async () => {
  using place = new Workplace();
  const shop = scripted(SHOP);
  const parameters = shop["server_parameters"] as Record<string, unknown>;
  const config = place.write("config.json", {
    servers: { a: { ...shop, server_parameters: { ...parameters, env: { KEY: "${input:key}" } } } },
    inputs: [{ type: "promptString", id: "key" }],
  });
  const { stdout } = await place.run(["status", "--json", "--config", config]);
  const [server] = JSON.parse(stdout).servers;
  assertEquals([server.status, server.last_error], [
    "failed",
    'Cannot resolve input "key": no value; set A2C_INPUT_KEY or give the input a default',
  ]);
  const empty = await place.run(["input", "set", "key"], { input: "" });
  assertEquals(empty.code, 2);
  assertStringIncludes(empty.stderr, "empty value");
});

Deno.test("without a terminal it says what is missing to start", async () => {
  using place = new Workplace();
  const { code, stderr } = await place.run(["--office", "lab"]);
  assertEquals(code, 2);
  for (const option of ["--url (or A2C_URL)", "--name", "--config"]) assertStringIncludes(stderr, option);
  assertEquals(stderr.includes("--office"), false);
});

Deno.test("server add and remove edit the config file, keep its comments, and refuse what cannot be", async () => {
  using place = new Workplace();
  const config = place.write(
    "mcp.json",
    '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "a" }\n  }\n}\n',
  );
  const edit = (...words: string[]) => place.run(["server", ...words, "--config", config]);
  const added = await place.run([
    "--config",
    config,
    "server",
    "add",
    "files",
    "--env",
    "K=v",
    "--",
    "npx",
    "-y",
    "pkg",
  ]);
  assertEquals([added.code, added.stderr], [0, ""]);
  assertEquals((await edit("add", "web", "https://mcp.example.com/mcp", "--header", "X-Key=1")).code, 0);
  const text = Deno.readTextFileSync(config);
  assertStringIncludes(text, "// mine");
  const parsed = JSON.parse(text.replace("// mine", ""));
  assertEquals(parsed.mcpServers, {
    a: { command: "a" },
    files: { command: "npx", args: ["-y", "pkg"], env: { K: "v" } },
    web: { type: "http", url: "https://mcp.example.com/mcp", headers: { "X-Key": "1" } },
  });
  const taken = await edit("add", "a", "b");
  assertEquals(taken.code, 2);
  assertStringIncludes(taken.stderr, "a server with this name exists");
  assertEquals((await edit("remove", "files")).code, 0);
  assertEquals((await edit("remove", "files")).code, 2);
  assertStringIncludes((await edit("add", "bad", '{"type":"stdio"}')).stderr, "command");
  assertEquals(Deno.readTextFileSync(config).includes("files"), false);
});

Deno.test("server add makes a config file where there is none, which nobody else may read; nothing else does", async () => {
  using place = new Workplace();
  const config = `${place.folder}/new.json`;
  const missing = await place.run(["status", "--config", config]);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "no such file");
  const bad = await place.run(["server", "add", "a", '{"type":"stdio"}', "--config", config]);
  assertEquals(bad.code, 2);
  assertEquals([...Deno.readDirSync(place.folder)].map(({ name }) => name).includes("new.json"), false);
  const added = await place.run(["server", "add", "a", "--config", config, "--", "my-server", "--fast"]);
  assertEquals([added.code, added.stderr], [0, ""]);
  assertEquals(JSON.parse(Deno.readTextFileSync(config)), {
    servers: { a: { type: "stdio", server_parameters: { command: "my-server", args: ["--fast"] } } },
  });
  if (isPosix) assertEquals((Deno.statSync(config).mode ?? 0) & 0o777, 0o600);
  assertEquals((await place.run(["server", "add", "b", "--config", config, "--", "b"])).code, 0);
  assertEquals(Object.keys(JSON.parse(Deno.readTextFileSync(config)).servers), ["a", "b"]);
});

Deno.test({
  name: "a command that finds no Computer, or cannot choose one, names those that run",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    const config = place.write("config.json", { servers: {} });
    const refused = async (args: string[], env?: Record<string, string>) => {
      const { code, stderr } = await place.run([...args, "--json"], { env });
      const { error } = JSON.parse(stderr);
      return { code, kind: error.code, message: String(error.message) };
    };
    const none = await refused(["status"], { A2C_NAME: "ada" });
    assertEquals([none.code, none.kind], [3, "COMPUTER_NOT_RUNNING"]);
    assertStringIncludes(none.message, "no Computer runs");
    await using server = await SmcpServer.listen({ port: 0 });
    const serve = (name: string) =>
      place.serve(["--url", server.url, "--office", "lab", "--name", name, "--config", config]);
    await using _first = await serve("tower");
    const only = await place.run(["status", "--json"], { env: { A2C_NAME: "ada" } });
    assertEquals([only.code, JSON.parse(only.stdout).name], [0, "tower"]);
    assertStringIncludes(only.stderr, 'no Computer "ada" (from A2C_NAME) runs; asking "tower"');
    assertEquals((await refused(["status", "--name", "ada"])).kind, "COMPUTER_NOT_RUNNING");
    await using _second = await serve("Ada's laptop");
    const unknown = await refused(["status"], { A2C_NAME: "ada" });
    assertEquals([unknown.code, unknown.kind], [3, "COMPUTER_NOT_RUNNING"]);
    assertStringIncludes(unknown.message, 'named "ada" (from A2C_NAME)');
    const several = await refused(["status"]);
    assertEquals([several.code, several.kind], [2, "USAGE"]);
    for (const { message } of [unknown, several]) {
      assertMatch(message, /"Ada's laptop" in office "lab" at http[^,]*, "tower" in office "lab"/);
    }
  },
});

Deno.test({
  name: "the socket of a Computer is its user's alone, goes with it, and one left behind is no obstacle",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    const config = place.write("config.json", { servers: {} });
    const connection = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
    const sockets = () => {
      const [folder] = [...Deno.readDirSync(place.folder)].filter(({ isDirectory }) => isDirectory);
      assert(folder !== undefined);
      const path = `${place.folder}/${folder.name}`;
      assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o700);
      return [...Deno.readDirSync(path)].map(({ name }) => name);
    };
    {
      await using killed = await place.serveAlone(connection);
      killed.kill("SIGKILL");
      await killed.end();
    }
    assertEquals(sockets(), ["laptop.sock"], "left behind");
    assertEquals((await place.run(["status"])).code, 3);
    {
      await using _running = await place.serve(connection);
      assertEquals((await place.run(["status"])).code, 0);
      const second = await place.run([...connection, "--headless"]);
      assertEquals([second.code, second.stdout], [2, ""]);
      assertStringIncludes(second.stderr, "runs already");
    }
    assertEquals(sockets(), []);
  },
});

Deno.test({
  name: "Computers of one name in two offices, or on two Servers, are chosen by NAME@OFFICE",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    await using work = await SmcpServer.listen({ port: 0 });
    await using home = await SmcpServer.listen({ port: 0 });
    const config = place.write("config.json", { servers: {} });
    const at = (
      url: string,
      office: string,
    ) => ["--url", url, "--office", office, "--name", "laptop", "--config", config];
    const first = await place.serve(at(work.url, "lab"));
    await using _second = await place.serve(at(home.url, "lab"));
    const servers = await Promise.all(["laptop", "laptop@lab"].map(async (name) => {
      const { stdout } = await place.run(["status", "--json", "--name", name]);
      return JSON.parse(stdout).server;
    }));
    assertEquals(servers, [work.url, home.url]);
    const unnamed = await place.run(["status"]);
    assertEquals(unnamed.code, 2);
    assertMatch(unnamed.stderr, /"laptop" in .*, "laptop@lab" in .* run on this machine/);
    const third = await place.run([...at(home.url, "lab"), "--headless"]);
    assertEquals(third.code, 2);
    assertStringIncludes(third.stderr, "runs already");

    const asked = async (...words: string[]) => {
      const { code, stdout, stderr } = await place.run(["status", "--json", ...words]);
      return code === 0 ? JSON.parse(stdout).server : stderr;
    };
    for (const { url } of [work, home]) {
      assertEquals(await asked("--name", "laptop", "--url", `${url}/`), url);
      assertEquals(await asked("--url", url, "--office", "lab"), url);
    }
    const nowhere = await asked("--name", "laptop", "--url", work.url, "--office", "den");
    for (const each of ["den", "laptop@lab", work.url, home.url]) {
      assertStringIncludes(nowhere, each);
    }
    assertStringIncludes(await asked("--office", "lab"), "Cannot choose");
    await first[Symbol.asyncDispose]();
    assertEquals(await asked("--name", "laptop"), home.url);
    assertStringIncludes(await asked("--name", "laptop", "--url", work.url), "Cannot find");
  },
});

Deno.test({
  name: "the remedy of a missing input names the Computer that misses it beside another of its name",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    await using work = await SmcpServer.listen({ port: 0 });
    await using home = await SmcpServer.listen({ port: 0 });
    const server_parameters = { command: "run", args: ["${input:token}"] };
    const config = place.write("config.json", {
      inputs: [{ id: "token", type: "promptString", description: "Token" }],
      servers: { files: { type: "stdio", server_parameters } },
    });
    const at = (url: string) => ["--url", url, "--office", "lab", "--name", "laptop", "--config", config];
    await using _first = await place.serve(at(work.url));
    await using _second = await place.serve(at(home.url));
    for (const name of ["laptop", "laptop@lab"]) {
      const read = async () => (await place.run(["status", "--json", "--name", name])).stdout;
      const status = await eventually(read, (text) => text.includes("input set"), "the remedy");
      assertStringIncludes(status, `--name ${name} input set token`);
    }
  },
});

Deno.test("a command with --documents starts a Computer for itself, with and without a config", async () => {
  using place = new Workplace();
  Deno.mkdirSync(`${place.folder}/notes`);
  place.write("notes/notes.md", "# Toner\n\nReplace it.\n");
  const { code, stdout, stderr } = await place.run([
    "finder",
    "--documents",
    `${place.folder}/notes`,
    "--json",
  ]);
  assertEquals([code, stderr], [0, ""]);
  const { documents } = JSON.parse(stdout);
  assertEquals(documents.map(({ title }: { title: string }) => title), ["Toner"]);
});

Deno.test({
  name: "a command with --skills starts a Computer for itself, also beside one that runs with --skills alone",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    Deno.mkdirSync(`${place.folder}/skills/tea`, { recursive: true });
    Deno.mkdirSync(`${place.folder}/none`);
    place.write("skills/tea/SKILL.md", "---\nname: tea\ndescription: Makes tea\n---\n");
    const skills = async (...words: string[]) => {
      const { code, stdout, stderr } = await place.run(["skills", "--json", ...words]);
      assertEquals(code, 0, stderr);
      return JSON.parse(stdout).skills.length;
    };
    await using _running = await place.serve([
      ...["--url", server.url, "--office", "lab", "--name", "laptop", "--skills", `${place.folder}/none`],
    ]);
    assertEquals(await skills(), 0);
    assertEquals(await skills("--skills", `${place.folder}/skills`), 1);
  },
});

Deno.test({
  name: "an edit of the config file is taken over while it runs, and a broken one is not",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    const config = place.write("config.json", scriptedServers({ kept: SHOP }));
    const connection = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
    await using running = await place.serve(connection);
    place.write(
      "config.json",
      scriptedServers({ kept: SHOP, added: { tools: [{ name: "new", inputSchema: {} }] } }),
    );
    await running.said("applied the edited config");
    const names = async () => {
      const { stdout } = await place.run(["status", "--json"]);
      return JSON.parse(stdout).servers.map(({ name }: { name: string }) => name);
    };
    assertEquals(await names(), ["kept", "added"]);
    place.write("config.json", '{ "servers": { "kept": ');
    await running.said("cannot use the edited config");
    assertEquals(await names(), ["kept", "added"]);
    assertStringIncludes((await place.run(["status"])).stdout, "the last edit is invalid");
    const again = await place.run(["server", "restart", "added"]);
    assertEquals(again.stdout, 'server "added" is running, with 3 tools\n');
  },
});

Deno.test({
  name: "inputs come from a private file, and an edit of it restarts the servers that use what changed",
  ignore: !isPosix,
  async fn() {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    const shop = scripted(SHOP);
    const parameters = shop["server_parameters"] as Record<string, unknown>;
    const config = place.write("config.json", {
      servers: {
        a: { ...shop, server_parameters: { ...parameters, env: { KEY: "${input:key}" } } },
        b: { ...shop, server_parameters: { ...parameters, env: { KEY: "${input:other}" } } },
      },
      inputs: [{ type: "promptString", id: "key" }, { type: "promptString", id: "other", default: "x" }],
    });
    const inputs = place.write("inputs.json", { key: "one" });
    Deno.chmodSync(inputs, 0o600);
    const connection = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
    await using running = await place.serve([...connection, "--inputs", inputs]);
    place.write("inputs.json", { key: "two, longer", othr: "x" });
    await running.said(
      'input "othr" in the file of inputs; did you mean "other"?',
    );
    await running.said("servers=a\n");
    const { stdout } = await place.run(["input", "list", "--json"]);
    assertEquals(
      JSON.parse(stdout).inputs.map(({ id, value_from }: Record<string, string>) => [id, value_from]),
      [["key", "file"], ["other", "default"]],
    );
    assertEquals(stdout.includes("longer"), false);
  },
});

Deno.test("a service with --documents needs no config, and refuses a folder that is missing", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  place.write("plan.md", "# Plan");
  const options = ["--url", server.url, "--office", "lab", "--name", "laptop"];
  const missing = await place.run([...options, "--documents", `${place.folder}/nowhere`]);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "no such folder");
  await using _program = await place.serve([...options, "--documents", place.folder]);
});
