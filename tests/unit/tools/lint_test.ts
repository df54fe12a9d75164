import { assertEquals } from "@std/assert";
import plugin from "../../../tools/lint/mod.ts";
import { layerImports, roomImports } from "../../../tools/lint/layers.ts";

/** What the plugin reports about a file, as `rule: message`. */
function lint(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ id, message }) => `${id}: ${message}`);
}

/** The names of the rules that a file breaks. */
function brokenRules(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ id }) => id.replace("smcp/", ""));
}

Deno.test("import-direction accepts a layer that the table allows", () => {
  assertEquals(lint("src/uri/window.ts", `import { parse } from "../protocol/parse.ts";`), []);
});

Deno.test("import-direction accepts modules of the same layer, in folders too", () => {
  assertEquals(lint("src/server/server.ts", `import { join } from "./relay/join.ts";`), []);
  assertEquals(lint("src/server/relay/join.ts", `import { Offices } from "../offices/offices.ts";`), []);
});

Deno.test("import-direction names the module, the layer and what the layer may import", () => {
  assertEquals(lint("src/uri/window.ts", `import { Agent } from "../agent/agent.ts";`), [
    'smcp/import-direction: Cannot import "src/agent/agent.ts" from "src/uri/window.ts": layer "uri" may import protocol, text',
  ]);
});

for (
  const source of [
    `import type { Agent } from "../agent/agent.ts";`,
    `import "../agent/agent.ts";`,
    `export { Agent } from "../agent/agent.ts";`,
    `export type { Agent } from "../agent/agent.ts";`,
    `const { Agent } = await import("../agent/agent.ts");`,
    `type Agent = import("../agent/agent.ts").Agent;`,
  ]
) {
  Deno.test(`import-direction sees ${source}`, () => {
    assertEquals(brokenRules("src/server/server.ts", source), ["import-direction"]);
  });
}

Deno.test("import-direction sees modules right under src as layers", () => {
  assertEquals(brokenRules("src/server/server.ts", `import { Logger } from "../log.ts";`), []);
  assertEquals(brokenRules("src/organizer/desktop.ts", `import { Logger } from "../log.ts";`), [
    "import-direction",
  ]);
  assertEquals(brokenRules("src/log.ts", `import { parse } from "./protocol/parse.ts";`), [
    "import-direction",
  ]);
});

Deno.test("import-direction finds a relative import between packages, which JSR refuses", () => {
  const sdk = `import { isRecord } from "../../../src/json.ts";`;
  assertEquals(lint("packages/documents/src/catalogue.ts", sdk), [
    'smcp/import-direction: Cannot import "src/json.ts" from "packages/documents/src/catalogue.ts": it lies outside of the package; import other packages by name',
  ]);
  assertEquals(
    brokenRules("packages/documents/mod.ts", `export { Provider } from "../../src/provider/mod.ts";`),
    [
      "import-direction",
    ],
  );
  assertEquals(brokenRules("cli.ts", `await import("./packages/documents/main.ts");`), ["import-direction"]);
});

Deno.test("import-direction accepts imports within a package, and its tests may import fixtures", () => {
  assertEquals(lint("packages/documents/mod.ts", `export { open } from "./src/open.ts";`), []);
  assertEquals(
    lint(
      "packages/documents/tests/open_test.ts",
      `import { within } from "../../../tests/fixtures/within.ts";`,
    ),
    [],
  );
});

Deno.test("third-party lets documents import the SDK by name, and never the SDK documents", () => {
  assertEquals(lint("packages/documents/src/a.ts", `import { Provider } from "@a2c-smcp/sdk/provider";`), []);
  for (const source of [`import "@a2c-smcp/documents";`, `await import("@a2c-smcp/documents/main");`]) {
    assertEquals(brokenRules("src/config/documents.ts", source), ["third-party"]);
  }
});

Deno.test("import-direction refuses layers that the table does not have", () => {
  assertEquals(brokenRules("src/attic/box.ts", `import { parse } from "../protocol/parse.ts";`), [
    "import-direction",
  ]);
  assertEquals(brokenRules("src/computer/computer.ts", `import { box } from "../attic/box.ts";`), [
    "import-direction",
  ]);
});

for (
  const outside of [
    "mod.ts",
    "agent.ts",
    "tests/fixture.ts",
    "examples/demo.ts",
    "tools/ok.ts",
    "../other.ts",
  ]
) {
  Deno.test(`import-direction refuses ${outside} in src`, () => {
    assertEquals(brokenRules("src/agent/agent.ts", `import "../../${outside}";`), ["import-direction"]);
  });
}

Deno.test("import-direction lets version.ts alone read deno.json", () => {
  const importOf = (path: string) => `import manifest from "${path}" with { type: "json" };`;
  assertEquals(brokenRules("src/version.ts", importOf("../deno.json")), []);
  assertEquals(brokenRules("src/cli/options.ts", importOf("../../deno.json")), ["import-direction"]);
});

Deno.test("import-direction keeps private modules to their folder and the folders inside", () => {
  assertEquals(brokenRules("src/server/server.ts", `import "./_ack.ts";`), []);
  assertEquals(brokenRules("src/server/relay/join.ts", `import "../_ack.ts";`), []);
  assertEquals(brokenRules("src/server/server.ts", `import "./relay/_check.ts";`), ["import-direction"]);
  assertEquals(brokenRules("src/uri/window.ts", `import "../protocol/_check.ts";`), ["import-direction"]);
});

Deno.test("import-direction leaves files outside of src alone", () => {
  assertEquals(lint("tests/unit/uri/window_test.ts", `import "../../../src/protocol/_check.ts";`), []);
});

Deno.test("import-direction keeps the rooms of the Computer one-way, below its own modules", () => {
  assertEquals(brokenRules("src/computer/tools/calls.ts", `import "../questions/person.ts";`), []);
  assertEquals(brokenRules("src/computer/host.ts", `import "./tools/calls.ts";`), []);
  for (const path of ["../tools/calls.ts", "../host.ts"]) {
    assertEquals(brokenRules("src/computer/questions/person.ts", `import "${path}";`), ["import-direction"]);
  }
});

Deno.test("the table of layers has no cycle: each layer imports only layers before itself", () => {
  const layers = Object.keys(layerImports);
  for (const [index, layer] of layers.entries()) {
    assertEquals(layerImports[layer]?.filter((target) => layers.indexOf(target) >= index), []);
  }
  for (const imports of Object.values(roomImports)) {
    const rooms = Object.keys(imports);
    for (const [index, room] of rooms.entries()) {
      assertEquals(imports[room]?.filter((target) => rooms.indexOf(target) >= index), []);
    }
  }
});

for (
  const [path, specifier] of [
    ["src/protocol/schemas/answers.ts", "zod"],
    ["src/config/form.ts", "zod"],
    ["src/config/foreign/keys.ts", "zod"],
    ["src/server/socket_io.ts", "socket.io"],
    ["src/link/connect.ts", "socket.io-client"],
    ["src/cli/program.ts", "commander"],
    ["src/log.ts", "@std/log"],
    ["src/config/file.ts", "@std/path"],
    ["src/server/server.ts", "node:http"],
    ["tests/unit/fixture.ts", "socket.io"],
  ] as const
) {
  Deno.test(`third-party accepts ${specifier} in ${path}`, () => {
    assertEquals(lint(path, `import x from "${specifier}";`), []);
  });
}

for (
  const [path, specifier] of [
    ["src/protocol/tools.ts", "zod"],
    ["src/server/offices/office.ts", "socket.io"],
    ["src/server/server.ts", "socket.io-client"],
    ["src/link/request.ts", "socket.io-client"],
    ["src/computer/computer.ts", "@modelcontextprotocol/sdk/types.js"],
    ["src/mcp/connection.ts", "@modelcontextprotocol/client"],
    ["src/mcp/schemas.ts", "zod"],
    ["src/provider/provider.ts", "@modelcontextprotocol/sdk/server/mcp.js"],
    ["src/provider/provider.ts", "@modelcontextprotocol/server"],
    ["src/server/server.ts", "@std/log"],
    ["src/server/server.ts", "npm:socket.io@4"],
    ["src/server/server.ts", "left-pad"],
    ["src/agent/agent.ts", "@a2c-smcp/sdk"],
  ] as const
) {
  Deno.test(`third-party refuses ${specifier} in ${path}`, () => {
    assertEquals(brokenRules(path, `import type { X } from "${specifier}";`), ["third-party"]);
  });
}

Deno.test("export-star refuses stars with and without a name", () => {
  assertEquals(brokenRules("mod.ts", `export * from "./src/protocol/events.ts";`), ["export-star"]);
  assertEquals(brokenRules("mod.ts", `export * as events from "./src/protocol/events.ts";`), ["export-star"]);
});

Deno.test("enum refuses enums", () => {
  assertEquals(brokenRules("src/protocol/roles.ts", `export enum Role { Agent }`), ["enum"]);
});

Deno.test("bare-error refuses bare errors in src only", () => {
  assertEquals(brokenRules("src/uri/window.ts", `throw new Error("Cannot parse");`), ["bare-error"]);
  assertEquals(brokenRules("src/uri/window.ts", `throw Error("Cannot parse");`), ["bare-error"]);
  assertEquals(brokenRules("src/uri/window.ts", `throw new TypeError("Cannot parse");`), []);
  assertEquals(brokenRules("src/uri/window.ts", `class UriError extends Error {}`), []);
  assertEquals(brokenRules("tools/ok.ts", `throw new Error("Cannot parse");`), []);
});

for (
  const expression of [
    'new TypeError("Cannot parse URI")',
    'new TypeError(`Cannot parse URI "${uri}": no host`)',
    "new TypeError(`${name} is not a URI`)",
    'new TypeError("Cannot parse URI: " + reason)',
    'new SmcpError(4204, "Invalid DPE URI")',
    "new SmcpError(code, message)",
    "new RangeError()",
    'new Set("abc.")',
    'describe("not an error.")',
    'class UriError extends TypeError { part = class extends Part { constructor() { super("host"); } }; }',
  ]
) {
  Deno.test(`error-message accepts ${expression}`, () => {
    assertEquals(lint("src/uri/window.ts", `const x = ${expression};`), []);
  });
}

for (
  const expression of [
    'new TypeError("cannot parse URI")',
    'new TypeError("Cannot parse URI.")',
    'new RangeError(`cannot parse URI "${uri}"`)',
    'new RangeError(`Cannot parse URI "${uri}".`)',
    'new TypeError("cannot parse URI: " + reason)',
    'new TypeError("Cannot parse URI: " + reason + ".")',
    'new SmcpError(4204, "invalid DPE URI")',
    'class UriError extends TypeError { constructor() { super("no URI"); } }',
  ]
) {
  Deno.test(`error-message refuses ${expression}`, () => {
    assertEquals(brokenRules("src/uri/window.ts", `const x = ${expression};`), ["error-message"]);
  });
}

Deno.test("error-message leaves tests alone and looks at all other files", () => {
  const source = `throw new TypeError("no URI");`;
  assertEquals(lint("tests/unit/uri/window_test.ts", source), []);
  assertEquals(brokenRules("tools/ok.ts", source), ["error-message"]);
});

for (
  const [expression, problems] of [
    ['log.info("server started", { server })', 0],
    ["this.#log.warn(`MCP server ${status}`)", 0],
    ["log.error(describeError(error))", 0],
    ['findings.warn("Not a logger.")', 0],
    ['this.#log.debug("Connection lost")', 1],
    ["context.log.info(`Server ${name} started.`)", 2],
  ] as const
) {
  Deno.test(`log-message finds ${problems} problems in ${expression}`, () => {
    const found = brokenRules("src/mcp/connection.ts", `${expression};`);
    assertEquals(found, Array(problems).fill("log-message"));
    assertEquals(brokenRules("tools/ok.ts", `${expression};`), []);
  });
}

Deno.test("deno-global leaves Deno to Computers and command lines", () => {
  const source = `const name = Deno.hostname();`;
  assertEquals(brokenRules("src/agent/agent.ts", source), ["deno-global"]);
  assertEquals(brokenRules("src/server/server.ts", source), ["deno-global"]);
  assertEquals(brokenRules("src/computer/computer.ts", source), []);
  assertEquals(brokenRules("src/cli/agent/main.ts", source), []);
  assertEquals(brokenRules("src/server/server.ts", `let options: Deno.ListenOptions;`), []);
});
