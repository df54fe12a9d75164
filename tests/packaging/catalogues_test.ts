// What catalogues and clients are told of our MCP servers.

import { assertEquals, assertMatch } from "@std/assert";
import { Ajv } from "ajv";
import manifest from "../../deno.json" with { type: "json" };
import documents from "../../packages/documents/deno.json" with { type: "json" };
import { knownAs } from "../../tools/archives.ts";
import { BUNDLE_SYSTEMS, BUNDLED, bundleName, toBundleManifest } from "../../tools/bundles.ts";
import { DOCUMENTS, mcpName, SERVER_SCHEMA, toServerFiles } from "../../tools/mcp_servers.ts";
// Of github.com/modelcontextprotocol/static, schemas/2025-12-11; MIT License, Copyright (c) 2025 Model Context Protocol.
import schema from "../vectors/mcp_server_2025_12_11.schema.json" with { type: "json" };

const files = [...toServerFiles()].map(([name, text]) => ({ name, server: JSON.parse(text) }));

Deno.test("the entries for the MCP registry fit its schema", () => {
  assertEquals(schema.$id, SERVER_SCHEMA);
  // It has examples, and formats that Ajv does not know by itself.
  const isValid = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  for (const { name, server } of files) {
    assertEquals([name, isValid(server), isValid.errors], [name, true, null]);
  }
  assertEquals(isValid({ ...files[0]?.server, description: "x".repeat(101) }), false);
});

Deno.test("an entry names the packages and the version that are published", () => {
  assertEquals(
    files.map(({ server: { name, version, packages } }) => ({ name, version, packages: packages.length })),
    BUNDLED.map((server) => ({ name: mcpName(server), version: manifest.version, packages: 1 })),
  );
  const packages = files.map(({ server }) => server.packages[0]);
  assertEquals(packages.map(({ identifier }) => identifier), ["a2c-smcp", documents.name]);
  assertEquals(packages.map(({ version }) => version), [manifest.version, documents.version]);
});

Deno.test("a secret is no word of a command line, which every user of the machine can read", () => {
  const [gateway] = files;
  const { packageArguments, environmentVariables } = gateway?.server.packages[0] ?? {};
  assertEquals(environmentVariables.map(({ name, isSecret }: Record<string, unknown>) => [name, isSecret]), [
    ["A2C_TOKEN", true],
  ]);
  assertEquals(JSON.stringify(packageArguments).includes("token"), false);
  for (const system of BUNDLE_SYSTEMS) {
    for (const server of BUNDLED) {
      const text = JSON.stringify(toBundleManifest(server, system));
      assertEquals(/"args":\[[^\]]*token/.test(text), false);
      assertMatch(text, server.name === "gateway" ? /"token":\{[^}]*"sensitive":true/ : /"multiple":true/);
    }
  }
});

Deno.test("the bundle of documents keeps what it reads in the cache folder of the system", () => {
  const args = BUNDLE_SYSTEMS.map((system) => JSON.stringify(toBundleManifest(DOCUMENTS, system)));
  const caches = args.map((text) => /"--cache","([^"]*)"/.exec(text)?.[1]);
  assertEquals(caches, [
    "${HOME}/Library/Caches/a2c-smcp/documents/bundle",
    "${HOME}/Library/Caches/a2c-smcp/documents/bundle",
    "${HOME}/.cache/a2c-smcp/documents/bundle",
    "${HOME}/AppData/Local/a2c-smcp/documents/bundle",
  ]);
  for (const [index, text] of args.entries()) {
    assertEquals(/"--allow-write=([^"]*)"/.exec(text)?.[1], caches[index]);
  }
});

Deno.test("the documentation links to a bundle of each server for each system", async () => {
  const text = await Deno.readTextFile(new URL("../../docs/clients.md", import.meta.url));
  const names = Array.from(text.matchAll(/\/latest\/download\/([\w.-]+\.mcpb)\)/g), ([, name]) => name);
  const expected = BUNDLED.flatMap((server) =>
    BUNDLE_SYSTEMS.map((system) => bundleName(server, knownAs(system)))
  );
  assertEquals(names.toSorted(), expected.toSorted());
});
