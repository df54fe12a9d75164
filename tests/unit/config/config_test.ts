import { assertEquals, assertThrows } from "@std/assert";
import { parseConfig, parseConfigText } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";

const stdio = { type: "stdio", server_parameters: { command: "run" } };

// proves: data-config-name, data-config-stdio
Deno.test("an object of servers by name is read in order, with all defaults", () => {
  const { servers, inputs } = parseConfig({ servers: { b: stdio, a: stdio } });
  assertEquals(servers.map(({ name }) => name), ["b", "a"]);
  assertEquals(servers[0], {
    name: "b",
    disabled: false,
    forbidden_tools: [],
    tool_meta: {},
    type: "stdio",
    server_parameters: {
      command: "run",
      args: [],
      env: null,
      cwd: null,
      encoding: "utf-8",
      encoding_error_handler: "strict",
    },
  });
  assertEquals(inputs, []);
});

Deno.test("a list of servers is equivalent to an object", () => {
  const { servers } = parseConfig({ servers: [{ ...stdio, name: "a" }], inputs: null });
  assertEquals(servers.map(({ name }) => name), ["a"]);
});

Deno.test("unknown keys are kept", () => {
  const { servers } = parseConfig({ servers: { a: { ...stdio, note: "mine" } }, comment: "x" });
  assertEquals((servers[0] as unknown as Record<string, unknown>)["note"], "mine");
});

Deno.test("a value that is not a config is refused with its source", () => {
  for (const config of [null, [], "x", {}, { servers: 1 }, { servers: null }, { servers: {}, inputs: {} }]) {
    assertThrows(() => parseConfig(config, "my.json"), ConfigError, 'Cannot read config "my.json"');
  }
});

Deno.test("invalid JSON is refused with the name of the file", () => {
  assertThrows(
    () => parseConfigText("{,}", "my.json"),
    ConfigError,
    'Cannot read config "my.json" at line 1: invalid JSON',
  );
  assertEquals(parseConfigText('{"servers":{}}', "my.json").servers, []);
});

Deno.test("a problem has its path and a fix", () => {
  const cases: [servers: unknown, place: string, state: string][] = [
    [
      { a: { type: "stdio", server_parameters: {} } },
      "servers.a.server_parameters.command",
      "is missing; it must be a string",
    ],
    [
      { a: { ...stdio, type: "streamble" } },
      "servers.a.type",
      'must be one of "stdio", "streamable", "sse"; did you mean "streamable"?',
    ],
    [
      { a: { ...stdio, type: "http" } },
      "servers.a.type",
      'must be one of "stdio", "streamable", "sse"; Streamable HTTP is "streamable"',
    ],
    [{ a: { server_parameters: { command: "run" } } }, "servers.a.type", "is missing"],
    [{ a: { type: "carrier-pigeon" } }, "servers.a.type", 'must be one of "stdio", "http", "sse"'],
    [{ a: 7 }, "servers.a", "must be an object"],
    [[stdio], "servers[0].name", "must be a non-empty string"],
    [{ "my files": 7 }, 'servers["my files"]', "must be an object"],
    [
      { a: { ...stdio, forbidden_tools: "rm" } },
      "servers.a.forbidden_tools",
      "must be a list, not a string",
    ],
    [
      { a: { ...stdio, disabled: "true" } },
      "servers.a.disabled",
      "must be true or false, not a string",
    ],
    [{ a: { ...stdio, tool_meta: { t: { tags: "x" } } } }, "servers.a.tool_meta.t.tags", "must be a list"],
    [
      { a: { type: "stdio", server_parameters: { command: "run", args: [8080] } } },
      "servers.a.server_parameters.args[0]",
      "must be a string, not a number",
    ],
    [
      { a: { type: "stdio", server_parameters: { command: "run", env: ["A=b"] } } },
      "servers.a.server_parameters.env",
      "must be an object, not a list",
    ],
    [
      { a: { type: "sse", server_parameters: { url: "http://x", timeout: "5" } } },
      "servers.a.server_parameters.timeout",
      "must be a number or a placeholder such as ${input:id}, not a string",
    ],
    [
      { a: { type: "sse", server_parameters: { url: "mailto:x" } } },
      "servers.a.server_parameters.url",
      "must be an http or https URL",
    ],
    [
      { a: { type: "sse", server_parameters: { url: "http://x", headers: { "a b": "${input:key}" } } } },
      'servers.a.server_parameters.headers["a b"]',
      "is not a valid header name",
    ],
    [
      { a: { type: "streamable", server_parameters: { url: "http://x", headers: { a: "日本" } } } },
      "servers.a.server_parameters.headers.a",
      "must be one line",
    ],
  ];
  for (const [servers, place, state] of cases) {
    const error = assertThrows(() => parseConfig({ servers }, "c"), ConfigError);
    assertEquals(
      error.message.startsWith(`Cannot read config "c" at ${place}: ${state}`),
      true,
      error.message,
    );
  }
});

// proves: data-input-base, data-input-pick
Deno.test("a problem of an input has its path and a fix", () => {
  const cases: [input: unknown, place: string, state: string][] = [
    ["x", "inputs[0]", "must be an object"],
    [{ id: "a" }, "inputs[0].type", 'is missing; it must be one of "promptString", "pickString", "command"'],
    [{ id: "a", type: "prompt" }, "inputs[0].type", "must be one of"],
    [{ type: "promptString" }, "inputs[0].id", "is missing"],
    [{ id: "a", type: "pickString" }, "inputs[0].options", "is missing; it must be a list"],
    [{ id: "a", type: "pickString", options: [] }, "inputs[0].options", "must have at least one item"],
    [{ id: "a", type: "pickString", options: [1] }, "inputs[0].options[0]", "must be a string or an object"],
    [
      { id: "a", type: "pickString", options: ["x"], default: "y" },
      "inputs[0].default",
      'must be one of the "options"',
    ],
    [{ id: "a", type: "promptString", default: 1 }, "inputs[0].default", "must be a string, not a number"],
  ];
  for (const [input, place, state] of cases) {
    const error = assertThrows(() => parseConfig({ servers: {}, inputs: [input] }, "c"), ConfigError);
    assertEquals(
      error.message.startsWith(`Cannot read config "c" at ${place}: ${state}`),
      true,
      error.message,
    );
  }
});

Deno.test("a duplicate name is refused", () => {
  const twice = { servers: [{ ...stdio, name: "a" }, { ...stdio, name: "a" }] };
  assertThrows(() => parseConfig(twice), ConfigError, 'at servers[1].name: duplicate name "a"');
  const input = { id: "i", type: "promptString" };
  assertThrows(
    () => parseConfig({ servers: {}, inputs: [input, input] }),
    ConfigError,
    'at inputs[1].id: duplicate id "i"',
  );
});

Deno.test("an alias in default_tool_meta is refused, with a fix", () => {
  const config = { servers: { a: { ...stdio, default_tool_meta: { alias: "x" } } } };
  assertThrows(() => parseConfig(config), ConfigError, 'set the alias of one tool in "tool_meta"');
  parseConfig({ servers: { a: { ...stdio, default_tool_meta: { alias: null } } } });
});

// proves: data-config-durations-form, data-config-streamable
Deno.test("durations of a streamable server are in ISO 8601 and greater than zero", () => {
  const withTimes = (times: Record<string, unknown>) => ({
    servers: { a: { type: "streamable", server_parameters: { url: "http://x", ...times } } },
  });
  const { servers: [server] } = parseConfig(withTimes({ timeout: "PT1H30M", sse_read_timeout: "P1D" }));
  assertEquals(server?.type, "streamable");
  assertEquals(parseConfig(withTimes({})).servers[0]?.server_parameters, {
    url: "http://x",
    headers: null,
    timeout: "PT30S",
    sse_read_timeout: "PT5M",
    terminate_on_close: true,
  });
  for (const timeout of ["30", "30s", "", "PT", "P1M", "PT0S", "-PT5S", 30]) {
    assertThrows(() => parseConfig(withTimes({ timeout })), ConfigError, "timeout");
    assertThrows(
      () => parseConfig(withTimes({ sse_read_timeout: timeout })),
      ConfigError,
      "sse_read_timeout",
    );
  }
});

// proves: data-config-sse
Deno.test("durations of an sse server are seconds greater than zero", () => {
  const withTimes = (times: Record<string, unknown>) => ({
    servers: { a: { type: "sse", server_parameters: { url: "http://x", ...times } } },
  });
  const { servers: [server] } = parseConfig(withTimes({ timeout: 2.5 }));
  assertEquals(server?.server_parameters, {
    url: "http://x",
    headers: null,
    timeout: 2.5,
    sse_read_timeout: 300,
  });
  for (const timeout of ["PT5S", 0, -1]) {
    assertThrows(() => parseConfig(withTimes({ timeout })), ConfigError, "timeout");
  }
});

// proves: data-config-encoding, data-config-encoding-errors
Deno.test("an encoding must be known and ASCII-compatible, and its error handler one of three", () => {
  const withEncoding = (parameters: Record<string, unknown>) => ({
    servers: { a: { type: "stdio", server_parameters: { command: "run", ...parameters } } },
  });
  for (const encoding of ["utf8", "gbk", "latin1", "shift_jis"]) parseConfig(withEncoding({ encoding }));
  for (const encoding of ["klingon", "", "utf-16", "utf-16le"]) {
    assertThrows(() => parseConfig(withEncoding({ encoding })), ConfigError, "encoding");
  }
  for (const encoding_error_handler of ["strict", "ignore", "replace"]) {
    parseConfig(withEncoding({ encoding_error_handler }));
  }
  assertThrows(() => parseConfig(withEncoding({ encoding_error_handler: "panic" })), ConfigError);
});

// proves: data-config-forbidden
Deno.test("an unknown key is a warning with the closest known key", () => {
  const { warnings } = parseConfig({
    servers: {
      a: {
        type: "stdio",
        disabeld: true,
        default_tool_meta: { auto_aply: true },
        server_parameters: { command: "x", argz: [] },
      },
    },
  });
  assertEquals(warnings, [
    { path: "servers.a.disabeld", message: 'unknown key, ignored; did you mean "disabled"?' },
    {
      path: "servers.a.server_parameters.argz",
      message: 'unknown key, ignored; did you mean "args"?',
    },
    {
      path: "servers.a.default_tool_meta.auto_aply",
      message: 'unknown key, ignored; did you mean "auto_apply"?',
    },
  ]);
});

Deno.test("an unknown key without a similar one is a warning with the known keys", () => {
  const { warnings } = parseConfig({ servers: { a: { ...stdio, zzz: 1 } }, whatever: 1 });
  assertEquals(warnings.map(({ path, message }) => [path, message.split(";")[0]]), [
    ["whatever", "unknown key, ignored"],
    ["servers.a.zzz", "unknown key, ignored"],
  ]);
});

Deno.test("keys of comments are accepted without a warning", () => {
  const { warnings } = parseConfig({
    $schema: "x",
    "//": "mine",
    _note: 1,
    comment: "c",
    servers: { a: { ...stdio, description: "d", "x-mine": 1 } },
  });
  assertEquals(warnings, []);
});

Deno.test("a parsed config is returned unchanged, with its warnings", () => {
  const config = parseConfigText('{\n"servers": {},\n"inputz": []}', "c");
  assertEquals(config.warnings[0]?.line, 3);
  assertEquals(parseConfig(config) === config, true);
});
