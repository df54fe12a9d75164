import { assertEquals } from "@std/assert";
import { withoutForeignTypes } from "../../../tools/doc_lint.ts";

Deno.test("withoutForeignTypes() drops warnings about types of npm packages with the lines that belong to them", () => {
  const output = [
    "Warning Failed resolving types. Could not resolve 'npm:pkg@1/index.js'",
    "    0: [ERR_MODULE_NOT_FOUND] Cannot find module",
    "    at file:///src/mcp/connection.ts:1:1",
    "Warning Failed resolving types. Could not find package 'zlib'",
    "    at file:///index.d.ts:1:1",
    "Checked 4 files",
  ];
  assertEquals(withoutForeignTypes(output.join("\n")), "Checked 4 files");
});

Deno.test("withoutForeignTypes() keeps all else, other warnings too", () => {
  const output = [
    "error[missing-jsdoc]: exported symbol",
    "    | indented",
    "Warning Something else",
    "    more",
  ];
  assertEquals(withoutForeignTypes(output.join("\n")), output.join("\n"));
});
