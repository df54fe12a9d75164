import { assertEquals } from "@std/assert";
import { toPromptInfo } from "../../../../src/computer/offers/prompts.ts";

const _meta = { a2c_mcp_server: "code" };

Deno.test("toPromptInfo() keeps a prompt with all its members, and writes the name of its server", () => {
  const prompt = {
    name: "review",
    title: "Review",
    description: "d",
    arguments: [{ name: "a", title: "A", description: "d", required: true, "x-hint": 1 }],
    icons: [{ src: "data:," }],
    "x-more": [1],
  };
  const entry = { ...prompt, _meta: { k: 1, a2c_mcp_server: "forged" } };
  assertEquals(toPromptInfo(entry, "code"), { ...prompt, _meta: { k: 1, ..._meta } } as never);
});

Deno.test("toPromptInfo() removes members that are null or of a wrong type, and arguments without a name", () => {
  const entry = {
    name: "p",
    title: null,
    description: 7,
    arguments: [null, {}, { name: "a", required: null, title: 1 }],
    icons: "x",
    _meta: [],
  };
  assertEquals(toPromptInfo(entry, "code"), { name: "p", arguments: [{ name: "a" }], _meta });
  assertEquals(toPromptInfo({ name: "p", arguments: {} }, "code"), { name: "p", _meta });
});

Deno.test("toPromptInfo() leaves out an entry without a name", () => {
  for (const entry of [null, "p", [], {}, { name: "" }, { name: 1 }]) {
    assertEquals(toPromptInfo(entry, "code"), undefined);
  }
});
