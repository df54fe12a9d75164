import fc from "../../fixtures/fast_check.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../src/protocol/errors.ts";
import { parseCallToolResult } from "../../../src/protocol/tool_result.ts";
import type { CallToolResult } from "../../../src/protocol/tools.ts";

function read(answer: unknown): { result: CallToolResult; flaws: string[] } {
  const flaws: string[] = [];
  const result = parseCallToolResult(answer, (field) => void flaws.push(field));
  return { result, flaws };
}

const text = { type: "text" as const, text: "x" };

Deno.test("a result's metadata may be spelled either way on both levels, and unknown members are kept", () => {
  const answer = {
    content: [{ ...text, meta: { a: 1 } }, { ...text, _meta: { b: 1 }, extra: 1 }],
    _meta: { b: 2 },
    isError: null,
    extra: [1],
  };
  assertEquals(read(answer), {
    result: {
      content: [{ ...text, _meta: { a: 1 } }, { ...text, _meta: { b: 1 }, extra: 1 }],
      isError: false,
      meta: { b: 2 },
      extra: [1],
    } as CallToolResult,
    flaws: [],
  });
});

Deno.test("null stands for an absent member, as pydantic writes it", () => {
  const nulls = { annotations: null, meta: null, _meta: null };
  const link = { type: "resource_link" as const, name: "n", uri: "file:///notes" };
  const resource = { uri: "file:///a", text: "a" };
  assertEquals(
    read({
      meta: null,
      structuredContent: null,
      isError: false,
      content: [
        { ...text, ...nulls },
        { ...link, ...nulls, mimeType: null, size: null, title: null, description: null, icons: null },
        { type: "resource", ...nulls, resource: { ...resource, mimeType: null, _meta: null } },
      ],
    }),
    { result: { content: [text, link, { type: "resource", resource }], isError: false }, flaws: [] },
  );
});

Deno.test("structuredContent may be any JSON", () => {
  for (const structuredContent of [{ a: 1 }, [1, 2], "x", 7, false, 0]) {
    assertEquals(read({ content: [], structuredContent }).result.structuredContent, structuredContent);
  }
});

Deno.test("an item that cannot be read is kept as it came, and the others are read", () => {
  const strange = [
    { type: "text", text: null },
    { type: "image", mimeType: "image/png" },
    { type: "resource", resource: { text: "x" } },
    { type: "resource", resource: { uri: "u", text: 1 } },
    { type: "resource_link" },
    { type: "hologram", beam: [1] },
    { text: "no type" },
    "x",
    null,
  ];
  const { result, flaws } = read({ content: [...strange, text] });
  assertEquals(result.content, [...strange.map((item) => ({ type: "unknown" as const, item })), text]);
  assertEquals(flaws, strange.map((_, index) => `content.${index}`));
});

Deno.test("an image without a media type has the one of any bytes", () => {
  const { result, flaws } = read({ content: [{ type: "image", data: "AA==" }] });
  assertEquals(result.content, [{ type: "image", data: "AA==", mimeType: "application/octet-stream" }]);
  assertEquals(flaws, ["content.0"]);
});

Deno.test("what is wrong beside the items does not cost them, and no failure is read as a success", () => {
  assertEquals(read({ content: text, isError: "yes", meta: [] }), {
    result: { content: [text], isError: true },
    flaws: ["meta", "content", "isError"],
  });
  assertEquals(read({ isError: true }), { result: { content: [], isError: true }, flaws: ["content"] });
  assertEquals(read({ content: "plain" }).result.content, [{ type: "unknown", item: "plain" }]);
});

Deno.test("what is no object, or has nothing of a result, is no result", () => {
  for (const answer of [undefined, null, "x", 7, [], {}, { content: null }, { meta: {} }]) {
    assertEquals(assertThrows(() => parseCallToolResult(answer), SmcpError).code, 400);
  }
});

Deno.test("whatever JSON the items of a result are, each is there again and nothing is thrown", () => {
  fc.assert(fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (content, meta) => {
    const { result } = read({ content, meta, isError: false });
    assertEquals(result.content.length, content.length);
    for (const [index, item] of result.content.entries()) {
      if (item.type === "unknown") assertEquals(item.item, content[index]);
    }
  }));
});
