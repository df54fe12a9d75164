import { assertEquals } from "@std/assert";
import type { OfficeTool } from "../../../../src/agent/toolkit/toolset.ts";
import { termsOf } from "../../../../src/gateway/search/terms.ts";
import { ToolIndex } from "../../../../src/gateway/search/tool_index.ts";

function tool(
  name: string,
  description: string,
  more: { computer?: string; properties?: unknown } = {},
): OfficeTool {
  const { computer = "laptop", properties = {} } = more;
  return {
    computer,
    tool: name,
    definition: { name, description, inputSchema: { type: "object", properties } },
  };
}

function namesOf(index: ToolIndex, query: string, limit = 5): string[] {
  return index.search(query, { limit }).map((found) => found.tool.definition.name);
}

Deno.test("termsOf() splits names and words, and leaves endings away", () => {
  assertEquals(termsOf("listPullRequests"), termsOf("list_pull_requests"));
  assertEquals(termsOf("Deletes files"), termsOf("delete file"));
  assertEquals(termsOf("HTTPServer v2"), termsOf("http server V2"));
  assertEquals(termsOf("the a of"), []);
});

Deno.test("termsOf() takes each two characters of a script without spaces", () => {
  assertEquals(termsOf("读取文件"), ["读取", "取文", "文件"]);
});

Deno.test("search() finds by name, description, schema and Computer", () => {
  const index = new ToolIndex();
  index.set("laptop", [
    tool("send_mail", "Sends a message to a person"),
    tool("weather", "Tells the forecast", {
      properties: { city: { type: "string", description: "The town" } },
    }),
  ]);
  index.set("desk", [tool("read_file", "读取文件内容", { computer: "desk" })]);
  assertEquals(namesOf(index, "sending mails"), ["send_mail"]);
  assertEquals(namesOf(index, "what is it like in this town"), ["weather"]);
  assertEquals(namesOf(index, "文件"), ["read_file"]);
  assertEquals(namesOf(index, "desk"), ["read_file"]);
  assertEquals(namesOf(index, "of the"), []);
});

Deno.test("search() finds what means about the same, after what is named", () => {
  const index = new ToolIndex();
  index.set("laptop", [tool("remove_user", "Removes a user"), tool("delete_user", "Deletes a user")]);
  assertEquals(namesOf(index, "delete user"), ["delete_user", "remove_user"]);
});

Deno.test("search() forgets a Computer that has left or has other tools, and keeps the others", () => {
  const index = new ToolIndex();
  index.set("laptop", [tool("echo", "Says it again")]);
  index.set("desk", [tool("shout", "Says it aloud", { computer: "desk" })]);
  assertEquals(namesOf(index, "says"), ["echo", "shout"].sort());
  index.set("laptop", [tool("whisper", "Says it softly")]);
  assertEquals(namesOf(index, "says"), ["shout", "whisper"]);
  index.delete("desk");
  assertEquals(namesOf(index, "says"), ["whisper"]);
});

Deno.test("search() orders equally good tools by name, and keeps to the limit", () => {
  const index = new ToolIndex();
  index.set("laptop", ["c", "a", "b"].map((letter) => tool(`copy_${letter}`, "Copies")));
  assertEquals(namesOf(index, "copies", 2), ["copy_a", "copy_b"]);
});
