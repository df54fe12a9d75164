import { assertEquals, assertThrows } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { parseConfigText } from "../../../src/config/config.ts";
import { addServerText, copiedServers, type NewServer, removeServerText } from "../../../src/config/edit.ts";
import { ConfigError } from "../../../src/config/problem.ts";

const folder = new URL("../../fixtures/configs/", import.meta.url);
const files = [
  "smcp.jsonc",
  "smcp_list.json",
  "vscode_mcp.jsonc",
  "vscode_settings.jsonc",
  "claude_desktop.json",
  "claude_code.json",
  "cursor.json",
  "windsurf.json",
  "cline.json",
  "gemini_settings.json",
];
const program: NewServer = { type: "stdio", command: "run", args: ["a"], env: { A: "${env:A}" } };
const remote: NewServer = { type: "streamable", url: "https://x/mcp", headers: { K: "v" }, disabled: true };

const origin = { workspace: "/w", home: "/h", cwd: "/c" };
const namesOf = (text: string) => parseConfigText(text, "c", { origin }).servers.map(({ name }) => name);
const commentsOf = (text: string) => text.match(/\/\/ .*|\/\*.*?\*\//g) ?? [];

Deno.test("a server is added after the others in the form of the file, and can be removed again", () => {
  for (const file of files) {
    const text = Deno.readTextFileSync(new URL(file, folder));
    const added = addServerText(addServerText(text, "new one", program), "far", remote);
    const { servers, form } = parseConfigText(added, "c", { origin });
    assertEquals(servers.map(({ name }) => name), [...namesOf(text), "new one", "far"], file);
    const [one, far] = servers.slice(-2);
    assertEquals([one?.type, far?.type, far?.disabled], ["stdio", "streamable", true], form);
    assertEquals(commentsOf(added), commentsOf(text), file);
    assertEquals(removeServerText(removeServerText(added, "far"), "new one"), text, file);
  }
});

Deno.test("an entry is written in place of another one, in the form of the file", () => {
  for (const file of files) {
    const text = Deno.readTextFileSync(new URL(file, folder));
    const [name = "", ...others] = namesOf(text);
    const written = addServerText(text, name, remote, { isReplaced: true });
    const { servers: [first] } = parseConfigText(written, "c", { origin });
    assertEquals([first?.name, first?.type, first?.disabled], [name, "streamable", true], file);
    assertEquals(namesOf(written), [name, ...others], file);
    assertThrows(() => addServerText(text, name, remote), ConfigError, "exists");
  }
});

Deno.test("copiedServers() takes the list of any client, with the inputs that each server uses, or one entry", () => {
  const one = { command: "run", env: { KEY: "${input:key}" } };
  const inputs = [{ id: "key", type: "promptString" }, { id: "other", type: "promptString" }];
  const two = { url: "https://x/mcp" };
  assertEquals(copiedServers({ servers: { one, two }, inputs }, ""), [
    ["one", { entry: { ...one, inputs: inputs.slice(0, 1) } }],
    ["two", { entry: two }],
  ]);
  assertEquals(copiedServers({ context_servers: { two } }, "mine"), [["mine", { entry: two }]]);
  assertEquals(copiedServers({ two }, ""), [["two", { entry: two }]]);
  assertEquals(copiedServers(two, "mine"), [["mine", { entry: two }]]);
});

Deno.test('a new file begins with "servers"', () => {
  for (const text of [undefined, "", " \n"]) {
    assertEquals(
      addServerText(text, "files", { type: "stdio", command: "run" }),
      `{
  "servers": {
    "files": {
      "type": "stdio",
      "server_parameters": {
        "command": "run"
      }
    }
  }
}
`,
    );
  }
  assertEquals(namesOf(addServerText("// mine\n", "a", program)), ["a"]);
  assertEquals(namesOf(addServerText("{}", "a", program)), ["a"]);
  assertEquals(namesOf(addServerText('{\n  "inputs": []\n}', "a", program)), ["a"]);
});

Deno.test("an edit keeps comments, order, indentation and line ends", () => {
  const text = [
    "{",
    "\t// all of them",
    '\t"servers": {',
    '\t\t"a": { "command": "a" }, // the first',
    "\t\t/* the second */",
    '\t\t"b": { "command": "b" } // not the last',
    "\t\t// more to come",
    "\t}",
    "}",
    "",
  ].join("\r\n");
  assertEquals(
    addServerText(text, "c", { type: "sse", url: "http://c" }),
    text.replace('"b" } // not the last', '"b" }, // not the last').replace(
      "\t\t// more",
      '\t\t"c": {\r\n\t\t\t"type": "sse",\r\n\t\t\t"url": "http://c"\r\n\t\t}\r\n\t\t// more',
    ),
  );
  assertEquals(
    removeServerText(text, "b"),
    text.replace('{ "command": "a" },', '{ "command": "a" }').replace('"b": { "command": "b" } ', ""),
  );
  assertEquals(removeServerText(text, "a"), text.replace('"a": { "command": "a" }, ', ""));
});

Deno.test("an edit keeps a trailing comma", () => {
  const text = '{\n  "mcpServers": {\n    "a": { "command": "a" }, // x\n  },\n}\n';
  const added = addServerText(text, "b", { type: "stdio", command: "b" });
  assertEquals(
    added,
    '{\n  "mcpServers": {\n    "a": { "command": "a" }, // x\n    "b": {\n      "command": "b"\n    },\n  },\n}\n',
  );
  assertEquals(removeServerText(added, "b"), text);
  assertEquals(
    removeServerText('{ "mcpServers": { "a": { "command": "a" }, } }', "a"),
    '{ "mcpServers": { } }',
  );
});

Deno.test("an object on one line stays on one line", () => {
  const server: NewServer = { type: "stdio", command: "b", args: ["x", "y"], env: {} };
  assertEquals(
    addServerText('{ "mcpServers": { "a": { "command": "a" } } }', "b", server),
    '{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b", "args": ["x", "y"], "env": {} } } }',
  );
  assertEquals(
    addServerText('{"servers":[]}', "b", { type: "sse", url: "http://x" }),
    '{"servers":[ { "name": "b", "type": "sse", "server_parameters": { "url": "http://x" } } ]}',
  );
});

Deno.test("an edit keeps the byte order mark", () => {
  const text = '\uFEFF{ "servers": {} }';
  const added = addServerText(text, "a", program);
  assertEquals([added.startsWith("\uFEFF{"), namesOf(added)], [true, ["a"]]);
});

Deno.test("a used name, an unknown name and a broken text are refused", () => {
  const text = '{ "servers": [{ "name": "a", "type": "stdio", "server_parameters": { "command": "a" } }] }';
  assertThrows(
    () => addServerText(text, "a", program),
    ConfigError,
    'Cannot add server "a": a server with this name exists',
  );
  assertThrows(() => addServerText(text, "", program), ConfigError, "no name");
  assertThrows(() => removeServerText(text, "b"), ConfigError, 'No server named "b"');
  for (
    const broken of [
      "{ servers }",
      '{"servers": 1}',
      "[]",
      '{"servers": {}, "mcpServers": {}}',
      '{"a":1,"a":1}',
    ]
  ) {
    assertThrows(() => addServerText(broken, "a", program), ConfigError, 'Cannot add server "a"', broken);
    assertThrows(() => removeServerText(broken, "a"), ConfigError, 'Cannot remove server "a"', broken);
  }
});

Deno.test("removing an added server restores the list of servers, with any commas and comments", () => {
  const gap = fc.constantFrom("", " ", "\n  ", "\r\n\t", " // x\n", " /* y */ ", "\n// z\n\n");
  const entry = fc.tuple(gap, gap, gap);
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 4 }),
      gap,
      fc.boolean(),
      fc.nat(),
      (gaps, end, trailing, pick) => {
        const entries = gaps.map(([a, b, c], index) => `${a}"s${index}"${b}:{"command":"x"}${c}`);
        const text = `{"servers":{${entries.join(",")}${trailing && entries.length > 0 ? "," : ""}${end}}}`;
        const names = entries.map((_, index) => `s${index}`);
        const added = addServerText(text, "new", program);
        assertEquals(namesOf(added), [...names, "new"], text);
        assertEquals(namesOf(removeServerText(added, "new")), names, added);
        assertEquals(commentsOf(added).length, commentsOf(text).length);
        if (names.length === 0) return;
        const gone = names[pick % names.length] ?? "";
        const removed = removeServerText(text, gone);
        assertEquals(namesOf(removed), names.filter((name) => name !== gone), text);
      },
    ),
  );
});

Deno.test("the first server of a file with several lines has one member per line", () => {
  for (const text of ['{\n  "servers": {}\n}\n', '{\n  "servers": {\n  }\n}\n']) {
    const server = { type: "stdio", command: "x", args: ["-y"] } as const;
    assertEquals(
      addServerText(text, "a", server),
      `{
  "servers": {
    "a": {
      "type": "stdio",
      "server_parameters": {
        "command": "x",
        "args": ["-y"]
      }
    }
  }
}
`,
    );
  }
});

Deno.test("a long list of arguments has one per line", () => {
  const args = Array.from({ length: 12 }, (_, index) => `--argument-${index}`);
  const text = addServerText(undefined, "a", { type: "stdio", command: "x", args });
  assertEquals(text.split("\n").filter((line) => line.includes("--argument")).length, 12);
  assertEquals(JSON.parse(text).servers.a.server_parameters.args, args);
});

Deno.test("a server is written in the form of the file", () => {
  const program = { type: "stdio", command: "x", args: ["y"], env: { A: "1" } } as const;
  const remote = { type: "streamable", url: "https://x" } as const;
  const first = { opencode: '{"mcp":{"o":{"type":"local","command":["o"]}}}', zed: '{"context_servers":{}}' };
  const cases: [text: string, entries: unknown[]][] = [
    [first.opencode, [
      { type: "local", command: ["x", "y"], environment: { A: "1" } },
      { type: "remote", url: "https://x" },
    ]],
    [first.zed, [{ command: "x", args: ["y"], env: { A: "1" } }, { type: "http", url: "https://x" }]],
    ['{"mcp":{"o":{"type":"stdio","command":"o"}}}', [
      { type: "stdio", command: "x", args: ["y"], env: { A: "1" } },
      { type: "http", url: "https://x" },
    ]],
    ['{"o":{"command":"o"}}', [{ command: "x", args: ["y"], env: { A: "1" } }, {
      type: "http",
      url: "https://x",
    }]],
  ];
  for (const [text, entries] of cases) {
    const written = JSON.parse(addServerText(addServerText(text, "a", program), "b", remote));
    const servers = written.mcp ?? written.context_servers ?? written;
    assertEquals([servers.a, servers.b], entries);
    assertEquals(parseConfigText(JSON.stringify(written), "c").servers.map(({ name }) => name).slice(-2), [
      "a",
      "b",
    ]);
  }
});

Deno.test("TOML and YAML are not edited", () => {
  for (const text of ['[mcp_servers.a]\ncommand = "x"\n', "mcpServers:\n  a:\n    command: x\n"]) {
    const add = () => addServerText(text, "b", { type: "stdio", command: "x" });
    assertThrows(add, ConfigError, "change it in an editor");
    assertThrows(() => removeServerText(text, "a"), ConfigError, "change it in an editor");
  }
});

Deno.test("the inputs of a pasted entry become inputs of the configuration, each once", () => {
  const inputs = [{ id: "token", type: "promptString", password: true }];
  const entry = { command: "run", env: { TOKEN: "${input:token}" }, inputs };
  const once = addServerText(undefined, "one", { entry });
  const twice = addServerText(once, "two", { entry });
  const { warnings, inputs: read } = parseConfigText(twice, "c", { origin });
  assertEquals([warnings, read.map(({ id }) => id)], [[], ["token"]]);
  assertEquals(JSON.parse(twice).servers.two, { command: "run", env: entry.env });
  const other = { ...entry, inputs: [{ id: "token", type: "promptString", description: "another" }] };
  assertThrows(() => addServerText(twice, "three", { entry: other }), ConfigError, 'input "token"');
  assertThrows(() => addServerText(twice, "four", { entry: { ...entry, inputs: {} } }), ConfigError, "list");
});

Deno.test("the inputs of a pasted entry go beside the servers of every form, or are refused", () => {
  const entry = { command: "run", inputs: [{ id: "pasted", type: "promptString" }] };
  for (const file of files) {
    const text = Deno.readTextFileSync(new URL(file, folder));
    const { inputs } = parseConfigText(addServerText(text, "new one", { entry }), "c", { origin });
    assertEquals(inputs.at(-1)?.id, "pasted", file);
  }
  const bare = '{ "one": { "command": "run" } }';
  assertThrows(() => addServerText(bare, "two", { entry }), ConfigError, "env:NAME");
});
