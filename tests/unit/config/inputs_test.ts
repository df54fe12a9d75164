import { assertEquals } from "@std/assert";
import { parseConfigText } from "../../../src/config/config.ts";

const warningsOf = (text: string) =>
  parseConfigText(text, "c").warnings.map(({ line, path, message }) => `${line} ${path} ${message}`);

// proves: data-input-placeholders
Deno.test("an undefined input is reported with its line and the closest id", () => {
  assertEquals(
    warningsOf(`{
  "servers": {
    "a": { "type": "stdio", "server_parameters": {
      "command": "x",
      "args": ["\${input:token}", "\${input:tokn}"] } }
  },
  "inputs": [{ "id": "token", "type": "promptString" }]
}`),
    [
      '5 servers.a.server_parameters.args[1] uses input "tokn", which is not in "inputs"; did you mean "token"?',
    ],
  );
});

Deno.test("an input that no server uses is a warning", () => {
  assertEquals(warningsOf('{"servers": {},\n"inputs": [{ "id": "token", "type": "promptString" }]}'), [
    '2 inputs[0] input "token" is not used by any server',
  ]);
});

Deno.test("placeholders anywhere in a flat entry or a disabled server use an input", () => {
  assertEquals(
    warningsOf(
      `{"servers": {"a": {"url": "http://x/\${input:p}", "headers": {"K": "\${input:k}"}, "disabled": true}},
      "inputs": [{"id": "p", "type": "promptString"}, {"id": "k", "type": "promptString"}]}`,
    ),
    [],
  );
});

Deno.test("an unknown key of an input is a warning", () => {
  assertEquals(
    warningsOf(
      '{"servers": {"a": {"command": "${input:a}"}}, "inputs": [{"id": "a", "type": "promptString", "pasword": true}]}',
    ),
    ['1 inputs[0].pasword unknown key, ignored; did you mean "password"?'],
  );
});
