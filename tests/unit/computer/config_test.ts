import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError, parseConfig, parseConfigText } from "../../../src/computer/config.ts";

const stdio = { type: "stdio", server_parameters: { command: "run" } };

// proves: data-config-name, data-config-stdio
Deno.test("a map of servers gives each its name, in order, with every default filled in", () => {
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

Deno.test("a list of servers is as good as a map", () => {
  const { servers } = parseConfig({ servers: [{ ...stdio, name: "a" }], inputs: null });
  assertEquals(servers.map(({ name }) => name), ["a"]);
});

Deno.test("unknown members are kept", () => {
  const { servers } = parseConfig({ servers: { a: { ...stdio, note: "mine" } }, comment: "x" });
  assertEquals((servers[0] as unknown as Record<string, unknown>)["note"], "mine");
});

Deno.test("what is no config names the source", () => {
  for (const config of [null, [], "x", {}, { servers: 1 }, { servers: null }, { servers: {}, inputs: {} }]) {
    assertThrows(() => parseConfig(config, "my.json"), ConfigError, 'Cannot read config "my.json"');
  }
});

Deno.test("text that is no JSON names its file", () => {
  assertThrows(
    () => parseConfigText("{,}", "my.json"),
    ConfigError,
    'Cannot read config "my.json": not JSON',
  );
  assertEquals(parseConfigText('{"servers":{}}', "my.json").servers, []);
});

Deno.test("a mistake names its place and the member", () => {
  const cases: [unknown, string, string][] = [
    [{ a: { type: "stdio", server_parameters: {} } }, "servers.a", "server_parameters.command"],
    [{ a: { type: "carrier-pigeon" } }, "servers.a", "type"],
    [{ a: 7 }, "servers.a", "MCPServerConfig"],
    [[stdio], "servers[0]", "name"],
    [{ a: { ...stdio, forbidden_tools: "rm" } }, "servers.a", "forbidden_tools"],
    [{ a: { ...stdio, tool_meta: { t: { tags: "x" } } } }, "servers.a", "tool_meta.t.tags"],
  ];
  for (const [servers, place, member] of cases) {
    const error = assertThrows(() => parseConfig({ servers }, "c"), ConfigError, `at "${place}"`);
    assertEquals(error.message.includes(member), true, error.message);
  }
  assertThrows(() => parseConfig({ servers: {}, inputs: [{ id: "a" }] }), ConfigError, 'at "inputs[0]"');
});

Deno.test("a name that stands twice is refused", () => {
  const twice = { servers: [{ ...stdio, name: "a" }, { ...stdio, name: "a" }] };
  assertThrows(() => parseConfig(twice), ConfigError, 'server name "a" stands twice');
  const input = { id: "i", type: "promptString" };
  assertThrows(
    () => parseConfig({ servers: {}, inputs: [input, input] }),
    ConfigError,
    'input id "i" stands twice',
  );
});

Deno.test("an alias for all tools of a server is refused, and says what to use", () => {
  const config = { servers: { a: { ...stdio, default_tool_meta: { alias: "x" } } } };
  assertThrows(() => parseConfig(config), ConfigError, '"default_tool_meta" cannot have an "alias"');
  parseConfig({ servers: { a: { ...stdio, default_tool_meta: { alias: null } } } });
});

// proves: data-config-durations, data-config-streamable
Deno.test("times of a streamable server are ISO 8601 durations above zero", () => {
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
Deno.test("times of an sse server are numbers of seconds above zero", () => {
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
Deno.test("an encoding must be known and hold ASCII, and its error handler is one of three", () => {
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
Deno.test("a member that nothing reads is a warning that names it", () => {
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
  assertEquals(warnings.map((warning) => /^"([^"]+)"/.exec(warning)?.[1]), [
    "disabeld",
    "server_parameters.argz",
    "default_tool_meta.auto_aply",
  ]);
});
