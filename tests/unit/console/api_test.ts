import { assertEquals, assertThrows } from "@std/assert";
import {
  answerOf,
  ApiRefusal,
  askedByBody,
  askedByQuery,
  type OfferedCommand,
  toWords,
} from "../../../src/console/api.ts";

const LOGS: OfferedCommand = {
  command: "server logs",
  about: "show the log",
  path: "/api/server/logs",
  methods: ["GET", "POST"],
  arguments: [{ name: "server", required: true, repeated: false }],
  options: [
    { name: "lines", takes_value: true, takes_pairs: false, about: "" },
    { name: "auto-apply", takes_value: false, takes_pairs: false, about: "" },
    { name: "env", takes_value: true, takes_pairs: true, about: "" },
    { name: "params", takes_value: true, takes_pairs: false, about: "" },
  ],
};
const withOptions = (options: Record<string, unknown>) =>
  toWords(LOGS, { arguments: [], options }).slice(2, -1);
const statusOf = (work: () => unknown) => assertThrows(work, ApiRefusal).status;

Deno.test("toWords() puts arguments behind `--`, so that none becomes an option", () => {
  const words = toWords(LOGS, { arguments: ["--help", "-x", "--"], options: {} });
  assertEquals(words, ["server", "logs", "--", "--help", "-x", "--"]);
});

Deno.test("toWords() passes on an argument that is no text as JSON", () => {
  assertEquals(toWords(LOGS, { arguments: [1, { a: [null] }], options: {} }).slice(3), ["1", '{"a":[null]}']);
});

Deno.test("toWords() ties a value to its option, so that a value is never an option itself", () => {
  assertEquals(withOptions({ lines: "--help" }), ["--lines=--help"]);
});

Deno.test("toWords() repeats an option for a list, and gives NAME=VALUE for an object", () => {
  assertEquals(withOptions({ env: ["A=1", "B=2"] }), ["--env=A=1", "--env=B=2"]);
  assertEquals(withOptions({ env: { A: "1", B: 2 } }), ["--env=A=1", "--env=B=2"]);
});

Deno.test("toWords() passes on an object as JSON to an option that takes no pairs", () => {
  assertEquals(withOptions({ params: { name: "Ada" } }), ['--params={"name":"Ada"}']);
});

Deno.test("toWords() gives a flag for true alone, and takes snake_case for an option", () => {
  assertEquals(withOptions({ auto_apply: true }), ["--auto-apply"]);
  for (const value of [false, "false", null]) assertEquals(withOptions({ auto_apply: value }), []);
  assertEquals(statusOf(() => withOptions({ auto_apply: "maybe" })), 400);
});

Deno.test("toWords() refuses an option that the command does not declare, --json and --help too", () => {
  for (const name of ["json", "help", "config", "constructor", "lines=1", "__proto__"]) {
    assertEquals(statusOf(() => withOptions(Object.fromEntries([[name, "1"]]))), 400, name);
  }
});

Deno.test("askedByQuery() takes arguments in order, and makes a repeated option a list", () => {
  const asked = askedByQuery(new URLSearchParams("argument=a&lines=2&argument=b&env=A=1&env=B=2"));
  assertEquals(asked, { arguments: ["a", "b"], options: { lines: "2", env: ["A=1", "B=2"] } });
});

Deno.test("askedByBody() refuses what is not arguments and options", () => {
  assertEquals(askedByBody({}), { arguments: [], options: {} });
  for (const body of [null, [], "x", { arguments: {} }, { options: [] }, { argument: ["a"] }]) {
    assertEquals(statusOf(() => askedByBody(body)), 400, JSON.stringify(body));
  }
});

Deno.test("answerOf() answers with the value, also of a command that failed with one", () => {
  assertEquals(answerOf({ output: '{"a":1}\n', error: "", exitCode: 0 }), { status: 200, json: '{"a":1}' });
  const failed = { output: '{"isError":true}', error: '{"error":{"message":"x"}}', exitCode: 1 };
  assertEquals(answerOf(failed), { status: 200, json: '{"isError":true}' });
});

for (
  const [code, exitCode, status] of [
    ["USAGE", 2, 400],
    ["STATE_CHANGED", 1, 409],
    [4005, 1, 502],
    ["COMPUTER_NOT_RUNNING", 3, 502],
    [undefined, 130, 503],
  ] as const
) {
  Deno.test(`answerOf() answers ${status} for an error with the code ${code} and exit code ${exitCode}`, () => {
    const error = `warning: x\n${
      JSON.stringify({ error: { message: "It failed", code, exit_code: exitCode } })
    }`;
    const answer = answerOf({ output: "", error, exitCode });
    const told = code === undefined ? {} : { code };
    assertEquals([answer.status, JSON.parse(answer.json)], [status, { error: "It failed", ...told }]);
  });
}
