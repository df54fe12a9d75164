import { assertEquals } from "@std/assert";
import { parseConfigText } from "../../../src/config/config.ts";

const warningsOf = (text: string) =>
  parseConfigText(text, "c").warnings.map(({ line, path, message }) => `${line} ${path} ${message}`);

// proves: data-input-placeholders
Deno.test("a placeholder without an input is a warning with its line, and what was meant", () => {
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

Deno.test("a flat entry's placeholders count wherever they stand, a disabled server's as well", () => {
  assertEquals(
    warningsOf(
      `{"servers": {"a": {"url": "http://x/\${input:p}", "headers": {"K": "\${input:k}"}, "disabled": true}},
      "inputs": [{"id": "p", "type": "promptString"}, {"id": "k", "type": "promptString"}]}`,
    ),
    [],
  );
});

Deno.test("a member of an input that nothing reads is a warning", () => {
  assertEquals(
    warningsOf(
      '{"servers": {"a": {"command": "${input:a}"}}, "inputs": [{"id": "a", "type": "promptString", "pasword": true}]}',
    ),
    ['1 inputs[0].pasword unknown key, ignored; did you mean "password"?'],
  );
});
