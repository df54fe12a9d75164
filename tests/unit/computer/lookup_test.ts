import { assertEquals, assertThrows } from "@std/assert";
import { findInput, findServer } from "../../../src/computer/lookup.ts";

Deno.test("findServer() gives the server of a name, or an error that says which there are", () => {
  const servers = [{ name: "files" }, { name: "shop" }];
  assertEquals(findServer("shop", servers), { name: "shop" });
  const error = assertThrows(() => findServer("shops", servers), TypeError);
  assertEquals(error.message, 'Cannot find MCP server "shops": there is "files", "shop"');
});

Deno.test("findInput() gives the input of an id, or an error that says which there are", () => {
  const input = { id: "key", type: "promptString", description: "" } as const;
  assertEquals(findInput("key", [input]), input);
  const error = assertThrows(() => findInput("keys", []), TypeError);
  assertEquals(error.message, 'Cannot find input "keys": the configuration has none');
});
