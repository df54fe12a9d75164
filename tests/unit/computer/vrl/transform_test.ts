import { assertEquals } from "@std/assert";
import type { CallToolResult } from "../../../../src/protocol/tools.ts";
import { toVrlEvent, withTransformed } from "../../../../src/computer/vrl/transform.ts";

Deno.test("the event has all members of a result, and the call", () => {
  const call = { tool: "t", params: { a: 1 } };
  assertEquals(toVrlEvent({ content: [] }, call), {
    meta: null,
    content: [],
    structuredContent: null,
    isError: false,
    tool_name: "t",
    parameters: { a: 1 },
  });
  const result: CallToolResult = {
    content: [{ type: "text", text: "x", _meta: { item: 1 } }, {
      type: "image",
      data: "",
      mimeType: "image/png",
    }],
    structuredContent: { n: 1 },
    isError: true,
    meta: { own: 1 },
  };
  assertEquals(toVrlEvent(result, call), {
    ...result,
    content: [{ type: "text", text: "x", meta: { item: 1 } }, {
      type: "image",
      data: "",
      mimeType: "image/png",
    }],
    tool_name: "t",
    parameters: { a: 1 },
  });
});

Deno.test("the output of a script is added to the metadata as JSON, and the result stays", () => {
  const result: CallToolResult = { content: [{ type: "text", text: "x" }], meta: { own: 1 } };
  assertEquals(withTransformed(result, '{"a":1}'), {
    content: [{ type: "text", text: "x" }],
    meta: { own: 1, a2c_vrl_transformed: '{"a":1}' },
  });
  assertEquals(withTransformed({ content: [], meta: null }, "1").meta, { a2c_vrl_transformed: "1" });
});
