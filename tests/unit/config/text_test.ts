import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { parseConfigText } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { readConfigText } from "../../../src/config/text.ts";

/** Where everything wrong with a text stands, and the whole message. */
function failure(text: string): { readonly places: unknown[]; readonly message: string } {
  const error = assertThrows(() => parseConfigText(text, "mcp.json"), ConfigError);
  return {
    places: error.problems.map(({ line, column, path }) => [line, column, path]),
    message: error.message,
  };
}

Deno.test("comments, trailing commas and a byte order mark are accepted", () => {
  const text =
    '\uFEFF// mine\n{ /* all of it */ "mcpServers": { "a": { "command": "run", "args": ["x",], }, }, }\n';
  assertEquals(parseConfigText(text, "c").servers.map(({ name }) => name), ["a"]);
});

Deno.test("all problems are reported in the order of the text, each with its line, path and fix", () => {
  const { places, message } = failure(`{
  "servers": {
    "files": {
      "type": "stdio",
      "server_parameters": {
        "args": "--all"
      }
    },
    "web": { "type": "sze", "server_parameters": {} }
  },
  "inputs": [{ "type": "promptString" }]
}`);
  assertEquals(places, [
    [5, 7, "servers.files.server_parameters.command"],
    [6, 9, "servers.files.server_parameters.args"],
    [9, 14, "servers.web.type"],
    [11, 14, "inputs[0].id"],
  ]);
  assertEquals(message.split("\n"), [
    'Cannot read config "mcp.json" at line 5, servers.files.server_parameters.command: is missing; it must be a string',
    'Cannot read config "mcp.json" at line 6, servers.files.server_parameters.args: must be a list, not a string',
    'Cannot read config "mcp.json" at line 9, servers.web.type: must be one of "stdio", "streamable", "sse"; did you mean "sse"?',
    'Cannot read config "mcp.json" at line 11, inputs[0].id: is missing; it must be a string',
  ]);
});

Deno.test("a syntax error has its line and column, and is the only problem", () => {
  const cases: [text: string, line: number, column: number, state: string][] = [
    ['{\n  "servers": {\n    "a": {} "b": {}\n  }\n}', 3, 13, "comma"],
    ["{\n  servers: {}\n}", 2, 3, "double quotes"],
    ['{\n  "servers": {\n', 3, 1, '"}"'],
    ['{ "servers": }', 1, 14, "value"],
    ['{ "servers" {} }', 1, 13, "colon"],
    ['{ "servers": {"a": {"command": "C:\\dir"}} }', 1, 32, "write a backslash as \\\\"],
    ['{ "servers": {} } true', 1, 19, "after the end"],
    ["{ /* ", 1, 3, "unterminated comment"],
    ['{ "servers": {"a": {"command": "run}} }', 1, 32, "closing quote"],
  ];
  for (const [text, line, column, state] of cases) {
    const { places: [place], message } = failure(text);
    assertEquals(place, [line, column, ""], message);
    assertEquals(
      message.includes(`at line ${line}: invalid JSON: `) && message.includes(state),
      true,
      message,
    );
  }
});

Deno.test("an empty text is refused", () => {
  for (const text of ["", "\n", "// nothing"]) failure(text);
});

Deno.test("a duplicate key is refused", () => {
  const { places, message } = failure(`{
  "servers": {
    "a": { "command": "one" },
    "b": { "command": "two", "command": "three" },
    "a": { "command": "four" }
  }
}`);
  assertEquals(places, [[4, 30, "servers.b.command"], [5, 5, "servers.a"]]);
  assertEquals(message.includes('duplicate key "command"'), true);
});

Deno.test("__proto__ and constructor are ordinary names", () => {
  const { servers } = parseConfigText(
    '{"servers": {"__proto__": {"command": "run"}, "constructor": {"command": "x"}}}',
    "c",
  );
  assertEquals(servers.map(({ name }) => name), ["__proto__", "constructor"]);
});

Deno.test("warnings have a line", () => {
  const { warnings } = parseConfigText(
    '{\n"servers": {\n"a": {\n"command": "run",\n"argz": []\n}\n}\n}',
    "c",
  );
  assertEquals(warnings, [
    { line: 5, column: 1, path: "servers.a.argz", message: 'unknown key, ignored; did you mean "args"?' },
  ]);
});

Deno.test("lines are counted with any kind of line end", () => {
  for (const newline of ["\n", "\r\n", "\r"]) {
    assertEquals(failure(["{", '"servers": {', '"a": 7', "} }"].join(newline)).places, [[3, 1, "servers.a"]]);
  }
});

Deno.test("no message contains a value that may be a secret", () => {
  const secret = "s3cr3t-value";
  const texts = [
    `{"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x", "env": "${secret}", "args": [["${secret}"]]}}}}`,
    `{"servers": {"a": {"type": "sse", "server_parameters": {"url": "${secret}", "headers": "${secret}", "timeout": "${secret}"}}}}`,
    `{"servers": {"a": {"type": "streamable", "server_parameters": {"url": "ftp://u:${secret}@x", "timeout": "${secret}"}}}}`,
    `{"mcpServers": {"a": {"command": "x", "env": {"K": {"v": "${secret}"}}, "args": ["\${config:${secret}}"]}}}`,
    `{"mcpServers": {"a": {"url": "\${A:-\${${secret}}}", "headers": ["Authorization: ${secret}"]}}}`,
    `{"servers": {"a": {"command": "x", "env": {"K": ${secret} }}}}`,
    `{"servers": {}, "inputs": [{"id": "a", "type": "promptString", "default": ["${secret}"]}]}`,
    `{"servers": {}, "inputs": [{"id": "a", "type": "pickString", "options": ["x"], "default": "${secret}"}]}`,
  ];
  for (const text of texts) assertEquals(failure(text).message.includes(secret), false, text);
  const { warnings } = parseConfigText(
    `{"servers": {"a": {"command": "x", "env": {"K": "a\${${secret}}"}}}}`,
    "c",
  );
  assertEquals([warnings.length, JSON.stringify(warnings).includes(secret)], [1, false]);
});

Deno.test("the message has twenty problems, the error has all", () => {
  const servers = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`s${index}`, 7]));
  const error = assertThrows(() => parseConfigText(JSON.stringify({ servers }), "c"), ConfigError);
  assertEquals([error.problems.length, error.message.split("\n").at(-1)], [30, "… and 10 more"]);
});

Deno.test("too deep nesting is refused; brackets in strings and comments do not count", () => {
  const nested = (depth: number) => `{\n"a": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
  for (const depth of [100, 100_000]) {
    const { syntax } = readConfigText(nested(depth));
    assertEquals(syntax.map(({ message }) => message), ["nested more than 100 levels deep"], String(depth));
  }
  assertEquals(readConfigText(nested(99)).syntax, []);
  const harmless = `{ // ${"{".repeat(200)}\n /* ${"[\n".repeat(200)} */ "a\\"": "${"[{".repeat(200)}" }`;
  assertEquals(readConfigText(harmless).syntax, []);
});

Deno.test("the format follows from the extension of the file, else from the text", () => {
  const cases: [file: string, text: string, place: [number, number], state: string][] = [
    ["config.toml", '[mcp_servers.a]\ncommand = "x', [2, 13], "invalid TOML: "],
    ["config.toml", '{ "servers": {} }', [1, 1], "invalid TOML: "],
    ["c", "# mine\n[mcp_servers.a]\ncommand = run", [3, 11], "invalid TOML: "],
    [
      "c",
      'a = 1\n[mcp_servers.a]\ncommand = "x"\ncommand = "y"',
      [4, 1],
      "invalid TOML: defining a key multiple times",
    ],
    ["config.yaml", "mcpServers:\n  a:\n    command: [x", [3, 16], "invalid YAML: "],
    ["c", "mcpServers:\n  a: x\n b: y", [3, 1], "invalid YAML: "],
    ["c.json", "mcpServers:\n", [1, 1], "invalid JSON: "],
    ["c", '"mcpServers": {}', [1, 1], "invalid JSON: the outer braces are missing"],
  ];
  for (const [file, text, place, state] of cases) {
    const error = assertThrows(() => parseConfigText(text, file), ConfigError);
    assertEquals([error.problems[0]?.line, error.problems[0]?.column], place, error.message);
    assertEquals(error.message.includes(state), true, error.message);
  }
});

Deno.test("a syntax error in TOML or YAML says what to do, once", () => {
  const cases: [file: string, text: string, remedy: RegExp][] = [
    ["c.yaml", "mcpServers:\n  a:\n    command: x\n- b: y", /; check the indentation/],
    ["c.yaml", "mcpServers:\n  a: b: c", /; check the indentation/],
    ["c.yaml", "mcpServers:\n\ta: x", /; use spaces/],
    ["c.yaml", "mcpServers:\n  a: `x`", /; put the value in quotes/],
    ["c.yaml", 'mcpServers:\n  a: "x', /missing closing [^;]*$/],
    ["c.toml", 'a = "x', /; check the quotes/],
    ["c.toml", "a = 1\na = 2", /; remove one of them/],
  ];
  for (const [file, text, remedy] of cases) {
    const { problems: [problem] } = assertThrows(() => parseConfigText(text, file), ConfigError);
    assertMatch(problem?.message ?? "", remedy);
  }
});

Deno.test("problems in TOML and YAML have a line and column", () => {
  const toml = '[mcp_servers.a]\ncommand = "x"\nargs = [\n  "a",\n  1,\n]\nenv = { A = [] }\n';
  const yaml =
    "mcpServers:\n  a:\n    command: x\n    args:\n      - a\n      - 1\n    env: { A: [] }\n    command: y\n";
  const placesOf = (text: string) =>
    assertThrows(() => parseConfigText(text, "c"), ConfigError).problems.map(({ line, column, path }) => [
      line,
      column,
      path,
    ]);
  assertEquals(placesOf(toml), [[5, 3, "mcp_servers.a.args[1]"], [7, 9, "mcp_servers.a.env.A"]]);
  assertEquals(placesOf(yaml), [[6, 9, "mcpServers.a.args[1]"], [7, 12, "mcpServers.a.env.A"], [8, 5, ""]]);
});

Deno.test("TOML and YAML that would exhaust the memory or the stack are refused", () => {
  const aliases = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
  for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg", "gh"]) {
    aliases.push(`${to}: &${to} [${Array(10).fill(`*${from}`)}]`);
  }
  for (
    const [file, text] of [
      ["c.yaml", aliases.join("\n")],
      ["c.yaml", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
      ["c.toml", `a = ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
      ["c.yaml", "mcpServers: *missing"],
    ] as const
  ) assertThrows(() => parseConfigText(text, file), ConfigError, `Cannot read config "${file}"`);
});

Deno.test("no message about TOML or YAML contains a value that may be a secret", () => {
  const secret = "s3cr3t-value";
  for (
    const [file, text] of [
      ["c.toml", `a = ${secret}`],
      ["c.toml", `a = "x" "${secret}"`],
      ["c.toml", `[a]\n"${secret}" = 1\n"${secret}" = 2`],
      ["c.yaml", `a: "x" ${secret}`],
      ["c.yaml", `a: *${secret}`],
      ["c.yaml", `a: x\n ${secret}\nb: !${secret} {`],
      ["c.yaml", `a: "${secret}`],
    ] as const
  ) {
    const { message } = assertThrows(() => parseConfigText(text, file), ConfigError);
    assertEquals(message.includes(secret), false, message);
  }
});
