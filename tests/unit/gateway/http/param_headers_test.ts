import { assertEquals } from "@std/assert";
import { refuseParamHeaders } from "../../../../src/gateway/http/param_headers.ts";

function refuse(schema: Record<string, unknown>, args: unknown, headers: Record<string, string>) {
  const message = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "x", arguments: args } };
  return refuseParamHeaders(schema, message, new Headers(headers));
}

const REGION = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };

Deno.test("a call whose header says what its argument says is not refused", () => {
  assertEquals(refuse(REGION, { region: "eu" }, { "mcp-param-region": "eu" }), undefined);
  assertEquals(refuse(REGION, { region: "ü" }, { "mcp-param-region": "=?base64?w7w=?=" }), undefined);
  assertEquals(refuse(REGION, {}, {}), undefined);
});

Deno.test("a call whose header is missing, or says something else, is refused", async () => {
  const headers: Record<string, string>[] = [{}, { "mcp-param-region": "us" }, {
    "mcp-param-region": "=?base64?w7w?=",
  }];
  for (const given of headers) {
    const response = refuse(REGION, { region: "eu" }, given);
    assertEquals(response?.status, 400);
    const { id, error } = await response?.json();
    assertEquals([id, error.code], [7, -32020]);
  }
});

Deno.test("a header whose name cannot stand in a request is not asked for", () => {
  for (const name of ["my region", "région", "a:b", "a\nb", ""]) {
    const schema = { type: "object", properties: { region: { type: "string", "x-mcp-header": name } } };
    assertEquals(refuse(schema, { region: "eu" }, {}), undefined);
  }
});
