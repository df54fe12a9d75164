import { assert, assertEquals } from "@std/assert";
import { Ajv } from "ajv";
import schema from "../../../../server.schema.json" with { type: "json" };
import { createServerProgram } from "../../../../src/cli/server/main.ts";
import { readJsonText } from "../../../../src/config/json_text.ts";

// Editors know keywords of their own.
const isValid = new Ajv({ strict: false, allowUnionTypes: true }).compile(schema);

Deno.test("the schema of the Server's file has a key for each flag", () => {
  const { options } = createServerProgram(new AbortController().signal);
  const flags = options.map(({ long }) => long?.slice(2)).filter((key) =>
    !["config", "console", "version"].includes(key ?? "")
  );
  assertEquals(
    Object.keys(schema.properties).filter((key) => key !== "$schema").toSorted(),
    flags.toSorted(),
  );
});

Deno.test("the schema accepts the file of the documentation, and no other keys and values", async () => {
  const page = await Deno.readTextFile(new URL("../../../../docs/server.md", import.meta.url));
  const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => text);
  const example = examples.find((text) => text.includes("server.schema.json")) ?? "";
  const { value, syntax } = readJsonText(example);
  assertEquals(syntax, []);
  assert(isValid(value), JSON.stringify(isValid.errors));
  assert(isValid({ "max-payload": "64MiB", "ping-interval": 4_000, "metrics-port": 0, token: "s3cret" }));
  for (
    const wrong of [{ prot: 1 }, { port: 70_000 }, { "max-payload": 1 }, { "ping-timeout": "soon" }, {
      grace: 1,
    }]
  ) {
    assertEquals(isValid(wrong), false, JSON.stringify(wrong));
  }
});
