import { assertEquals, assertThrows } from "@std/assert";
import { findServer } from "../../../src/computer/lookup.ts";

Deno.test("findServer() gives the server of a name, or an error that says which there are", () => {
  const servers = [{ name: "files" }, { name: "shop" }];
  assertEquals(findServer("shop", servers), { name: "shop" });
  const error = assertThrows(() => findServer("shops", servers), TypeError);
  assertEquals(error.message, 'Cannot find MCP server "shops": there is "files", "shop"');
});
