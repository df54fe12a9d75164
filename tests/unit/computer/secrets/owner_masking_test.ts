import { assertEquals } from "@std/assert";
import { parseConfig } from "../../../../src/config/config.ts";
import { renderParameters } from "../../../../src/computer/secrets/owner_masking.ts";

const INPUTS = [
  { type: "promptString", id: "city", description: "" },
  { type: "promptString", id: "key", description: "", password: true },
  { type: "promptString", id: "none", description: "" },
  { type: "command", id: "made", description: "", command: "echo hunter2" },
];

async function render(server_parameters: Record<string, unknown>): Promise<unknown> {
  const { servers: [server], inputs } = parseConfig({
    servers: { a: { type: "stdio", server_parameters: { command: "a", ...server_parameters } } },
    inputs: INPUTS,
  });
  if (server === undefined) throw new TypeError("Cannot render: no server");
  const values: Record<string, string> = { city: "Rome", key: "hunter2", made: "hunter2" };
  return await renderParameters(server, { inputs, peek: ({ id }) => Promise.resolve(values[id]) });
}

Deno.test("renderParameters() replaces inputs, and masks passwords and the output of commands", async () => {
  const rendered = await render({
    args: ["${input:city}", "${input:key}", "${input:made}", "in ${input:city}", "--token=key ${input:key}"],
  });
  const args = ["Rome", "***", "***", "in Rome", "--token=***"];
  assertEquals((rendered as { args: unknown }).args, args);
});

Deno.test("renderParameters() leaves inputs without a value and variables as written", async () => {
  const rendered = await render({ args: ["${input:none}", "${env:HOME}"] });
  assertEquals((rendered as { args: unknown }).args, ["${input:none}", "${env:HOME}"]);
});

Deno.test("renderParameters() masks secret names, headers and secrets in URLs", async () => {
  const rendered = await render({
    args: ["--token=hunter2"],
    env: { KEY: "hunter2", CITY: "${input:city}" },
  });
  assertEquals(JSON.stringify(rendered).includes("hunter2"), false);
  assertEquals((rendered as { env: unknown }).env, { KEY: "***", CITY: "Rome" });
});
