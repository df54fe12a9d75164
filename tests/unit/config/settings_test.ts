import { assertEquals, assertThrows } from "@std/assert";
import { normalize } from "@std/path";
import { parseConfig, parseConfigText } from "../../../src/config/config.ts";
import { DEFAULT_LIMITS } from "../../../src/config/limits.ts";
import { ConfigError } from "../../../src/config/problem.ts";

const servers = { files: { command: "files" } };

Deno.test("parseConfig() reads protocol_version beside servers and mcpServers", () => {
  assertEquals(parseConfig({ protocol_version: "0.4", servers }).protocolVersion, "0.4");
  assertEquals(parseConfig({ mcpServers: servers, protocol_version: "0.3" }).protocolVersion, "0.3");
  assertEquals(parseConfig({ mcpServers: servers, protocol_version: null }).protocolVersion, undefined);
  assertEquals(parseConfig({ servers }).protocolVersion, undefined);
  assertEquals(parseConfig({ protocol_version: "0.4", servers }).warnings, []);
});

Deno.test("a protocol_version that cannot be used says what to write, and where it stands", () => {
  const problemOf = (version: string) => {
    const text = `{\n  "servers": {},\n  "protocol_version": ${version}\n}`;
    const error = assertThrows(() => parseConfigText(text, "mcp.json"), ConfigError);
    return error.problems[0];
  };
  assertEquals(problemOf("0.4")?.message, 'unknown protocol version; it is text, write "0.4"');
  assertEquals(problemOf('"0.5"')?.message, 'unknown protocol version; write "0.2", "0.3" or "0.4"');
  assertEquals(problemOf('"0.4.0"')?.line, 3);
  assertEquals(problemOf("{}")?.path, "protocol_version");
});

Deno.test("a misspelled setting is warned about with the right spelling", () => {
  const { warnings } = parseConfig({ servers, protocol_versoin: "0.4" });
  assertEquals(warnings.map(({ message }) => message), [
    'unknown key, ignored; did you mean "protocol_version"?',
  ]);
});

Deno.test("parseConfig() reads the folder for uploads relative to the config file", () => {
  const origin = { workspace: "/projects/project", home: "/people/ada" };
  const folderOf = (uploads: unknown) => parseConfig({ servers, uploads }, "config", { origin }).uploads;
  assertEquals(
    ["./inbox", "/srv/inbox", "~/inbox"].map(folderOf),
    [normalize("/projects/project/inbox"), "/srv/inbox", normalize("/people/ada/inbox")],
  );
  assertEquals(folderOf(null), undefined);
  assertEquals(parseConfig({ mcpServers: servers, uploads: "inbox" }).uploads, "inbox");
  for (const uploads of ["", 7, true, { folder: "x" }, "${workspaceFolder}/x"]) {
    const error = assertThrows(() => folderOf(uploads), ConfigError);
    assertEquals(error.problems.map(({ path }) => path), ["uploads"]);
  }
});

Deno.test("parseConfig() reads limits by their names, all that a Computer has", () => {
  const limits = { maxMessageBytes: 5_000_000, maxDocuments: 7, blobLifetimeMs: null };
  assertEquals(parseConfig({ servers, limits }).limits, { maxMessageBytes: 5_000_000, maxDocuments: 7 });
  assertEquals(parseConfig({ mcpServers: servers, limits: null }).limits, undefined);
  assertEquals(parseConfigText("[limits]\nmaxTools = 9\n\n[servers]\n", "c.toml").limits, { maxTools: 9 });
  assertEquals(parseConfig({ servers, limits: DEFAULT_LIMITS }).limits, { ...DEFAULT_LIMITS });
});

Deno.test("limits that cannot be used say what to write, and where they stand", () => {
  const problemsOf = (limits: unknown) => {
    const error = assertThrows(() => parseConfig({ servers, limits }), ConfigError);
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  assertEquals(problemsOf({ maxMesageBytes: 1 }), [
    'limits.maxMesageBytes: unknown limit; did you mean "maxMessageBytes"?',
  ]);
  for (const limit of ["64 MiB", 0, -1, 1.5, true, {}, 1e400]) {
    assertEquals(problemsOf({ maxTools: limit }), ["limits.maxTools: must be a whole number above 0"]);
  }
  for (const limits of [[], "x", 7]) assertEquals(problemsOf(limits).length, 1);
});
