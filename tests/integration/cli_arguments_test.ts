// The arguments of a tool, as both command lines take them: NAME=VALUE, JSON, a file, standard input.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/mod.ts";
import { type DoorOutcome, runDoor } from "../fixtures/door.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { Workplace } from "./_computer_program.ts";
import { ScriptedComputer, textResult } from "./_scripted_computer.ts";

const SCHEMA = { type: "object", properties: { message: { type: "string" }, times: { type: "integer" } } };
const ECHO = { name: "echo", description: "Says it again", params_schema: SCHEMA, return_schema: null };

Deno.test("agent.ts takes arguments as NAME=VALUE, from a file and from standard input", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_tools": ({ req_id }) => ({ tools: [ECHO], req_id }),
      "client:tool_call": ({ params }) => textResult(JSON.stringify(params)),
    },
  });
  const call = async (words: readonly string[], input?: string) => {
    const office = ["--url", server.url, "--office", "lab", "--name", "ada"];
    return await runDoor(
      "agent.ts",
      [...office, "call", "echo", ...words],
      input === undefined ? {} : { input },
    );
  };
  const said = async (words: readonly string[], input?: string) =>
    JSON.parse((await call(words, input)).stdout);
  assertEquals(await said(["message=3", "times=3"]), { message: "3", times: 3 });
  const file = place.write("args.json", { message: "from a file", times: 1 });
  assertEquals(await said([`--params=@${file}`, "times=2"]), { message: "from a file", times: 2 });
  assertEquals(await said(["--params", "-"], '{"message":"piped"}'), { message: "piped" });
  const before = computer.requests.length;
  const wrong = await call(["--params", "-"], "[1]");
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
  assertStringIncludes(wrong.stderr, "not a JSON object");
  const missing = await call(["--params", `@${file}.not`]);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, `Cannot read arguments from "${file}.not": no such file`);
  assertEquals(computer.requests.slice(before).filter(({ event }) => event === "client:tool_call"), []);
});

Deno.test("a file and standard input are those of the process where call was typed", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write(
    "config.json",
    scriptedServers({ s: { tools: [{ name: "echo", inputSchema: SCHEMA }] } }),
  );
  const office = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  place.write("args.json", { message: "from a file" });
  const argsOf = ({ stdout }: DoorOutcome) => JSON.parse(stdout).args;
  const alone = await place.run(["call", "echo", "--config", config, "--params", "-"], {
    input: '{"times":1}',
  });
  assertEquals(argsOf(alone), { times: 1 });
  await using _running = await place.serve(office);
  const { folder: cwd } = place;
  assertEquals(argsOf(await place.run(["call", "echo", "--params", "@args.json", "times=2"], { cwd })), {
    message: "from a file",
    times: 2,
  });
  assertEquals(argsOf(await place.run(["call", "echo", "--params", "-"], { input: '{"times":3}' })), {
    times: 3,
  });
});
