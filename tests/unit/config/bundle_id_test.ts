import { assertEquals, assertThrows } from "@std/assert";
import vectors from "../../vectors/bundle_id_conformance_vectors.json" with { type: "json" };
import { bundleIdOf, identifyServers } from "../../../src/config/bundle_id.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import type { MCPServerConfig } from "../../../src/protocol/config.ts";

/** A server with the parameters of a vector, which are flat; its name may be empty, which no configuration allows. */
function serverOf(name: string, { type, bundle_id, ...parameters }: Readonly<Record<string, unknown>>) {
  const written = { type, bundle_id, server_parameters: parameters, name: name === "" ? "x" : name };
  const [server] = parseConfig({ servers: [written] }).servers;
  if (server === undefined) throw new TypeError("no server");
  return { ...server, name };
}

for (const { desc, name, config, expected_bundle_id } of vectors.vectors) {
  Deno.test(`bundleIdOf() gives the id of the vector "${desc}"`, () => {
    assertEquals(bundleIdOf(serverOf(name, config)), expected_bundle_id);
  });
}

Deno.test("bundleIdOf() orders variables by their bytes, and not by UTF-16", () => {
  const server = (env: Record<string, string>) => serverOf("!", { type: "stdio", command: "x", env });
  const one = bundleIdOf(server({ "\u{1F600}": "1", "\uFFFD": "2" }));
  assertEquals(one, bundleIdOf(server({ "\uFFFD": "2", "\u{1F600}": "1" })));
  assertEquals(one, "bundle_f73002a44f5bb229");
});

Deno.test("a bundle_id that cannot be used is a problem of the config, in every form", () => {
  const problemsOf = (bundle_id: unknown) => {
    const server = { command: "x", bundle_id };
    return assertThrows(() => parseConfig({ mcpServers: { s: server } }), ConfigError).problems;
  };
  assertEquals(problemsOf("a b")[0]?.path, "mcpServers.s.bundle_id");
  for (const id of ["", "a__b", "a.b", "\u00e9", 7]) assertEquals(problemsOf(id).length, 1);
  const { servers } = parseConfig({ mcpServers: { s: { command: "x", bundle_id: "_own-ID_" } } });
  assertEquals(servers[0]?.bundle_id, "_own-ID_");
});

Deno.test("identifyServers() keeps the first server of each id, and names the others with the remedy", () => {
  const { servers } = parseConfig({
    mcpServers: { "my files": { command: "a" }, my_files: { command: "b" }, other: { command: "c" } },
  });
  const { byId, leftOut } = identifyServers(servers);
  const shown = ([id, { name }]: [string, MCPServerConfig]) => [id, name];
  assertEquals([...byId].map(shown), [["my_files", "my files"], ["other", "other"]]);
  assertEquals(leftOut.map(({ server, reason }) => [server.name, reason]), [[
    "my_files",
    'is left out: its bundle_id "my_files" is that of server "my files"; give one of them another "bundle_id"',
  ]]);
});
