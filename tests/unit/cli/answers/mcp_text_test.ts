import { assertEquals } from "@std/assert";
import {
  promptsText,
  promptText,
  resourcesText,
  serversText,
  serverText,
  templatesText,
} from "../../../../src/cli/answers/mcp_text.ts";

Deno.test("an empty list is a sentence", () => {
  const texts = [serversText([]), promptsText([]), resourcesText([]), templatesText([])];
  assertEquals(texts, ["no MCP servers", "no prompts", "no resources", "no resource templates"]);
});

Deno.test("serversText() shows status, title or name, and versions", () => {
  const shop = { mcp_server: "shop", status: "running", mcp_version: "2025-11-25" };
  const text = serversText([{ ...shop, server_info: { name: "s", version: "2" } }, {
    mcp_server: "files",
    status: "needs sign-in",
  }]);
  assertEquals(text, "shop   running        s 2  MCP 2025-11-25\nfiles  needs sign-in");
});

Deno.test("serverText() shows instructions whole, says when they are cut, and passes no control sequence on", () => {
  const text = serverText({
    mcp_server: "shop",
    status: "running",
    server_info: { description: "Sells", website_url: "https://shop.example.com" },
    capabilities: {},
    instructions: "One\n\u001b[31mTwo",
    instructions_cut: true,
  });
  const about = ['description: "Sells"', "website: https://shop.example.com", "capabilities: none"];
  assertEquals(
    text,
    ["shop  running", ...about, "", "instructions (cut)", "```", "One", "Two", "```"].join("\n"),
  );
});

Deno.test("promptsText() shows which arguments may be left out, and no title that repeats the name", () => {
  const text = promptsText([
    { name: "a", title: "a", arguments: [{ name: "x", required: true }, { name: "y" }] },
    { name: "b", title: "Bee", description: "Does\n\nit", _meta: { a2c_mcp_server: "s" } },
  ]);
  assertEquals(text, "a(x, y?)\nb()  Bee  s\n    Does\n    it");
});

Deno.test("promptText() shows each message below its role", () => {
  const text = promptText({
    messages: [
      { role: "user", content: { type: "text", text: "Hi" } },
      { role: "assistant", content: { type: "resource_link", uri: "file:///a" } },
    ],
  });
  assertEquals(text, "user:\nHi\n\nassistant:\n[file:///a]");
});
