import { assert, assertEquals } from "@std/assert";
import type { OfficeTool } from "../../../../src/agent/toolkit/toolset.ts";
import { ToolIndex } from "../../../../src/gateway/search/tool_index.ts";
import { termOf, wordsOf } from "../../../../src/text/words.ts";
import {
  asked,
  heldOut,
  indexRealTools,
  realTools,
  recallAt,
  tuning,
} from "../../../fixtures/real_tools/recall.ts";
import { officeTool } from "./_tools.ts";

const tool = (
  name: string,
  description: string,
  { properties = {}, ...more }: { computer?: string; properties?: unknown } = {},
) => officeTool(name, description, { ...more, schema: { properties } });

/** An index of these tools by Computer. */
async function indexOf(
  tools: Readonly<Record<string, readonly OfficeTool[]>>,
  index = new ToolIndex(),
): Promise<ToolIndex> {
  await index.update(new Map(Object.entries(tools)));
  return index;
}

function namesOf(index: ToolIndex, query: string, limit = 5): string[] {
  return index.search(query).slice(0, limit).map(({ definition }) => definition.name);
}

const termsOf = (text: string) => wordsOf(text).map(termOf).filter((term) => term !== undefined);

Deno.test("terms are words of names and texts without their endings", () => {
  assertEquals(termsOf("listPullRequests"), termsOf("list_pull_requests"));
  assertEquals(termsOf("Deletes files"), termsOf("delete file"));
  assertEquals(termsOf("HTTPServer v2"), termsOf("http server V2"));
  assertEquals(termsOf("the a of"), []);
});

Deno.test("terms are each two characters of a script without spaces", () => {
  assertEquals(termsOf("读取文件"), ["读取", "取文", "文件"]);
});

Deno.test("search() finds by name, description, schema and Computer", async () => {
  const index = await indexOf({
    laptop: [
      tool("send_mail", "Sends a message to a person"),
      tool("weather", "Tells the forecast", {
        properties: { city: { type: "string", description: "The town" } },
      }),
    ],
    desk: [tool("read_file", "读取文件内容", { computer: "desk" })],
  });
  assertEquals(namesOf(index, "sending mails"), ["send_mail"]);
  assertEquals(namesOf(index, "what is it like in this town"), ["weather"]);
  assertEquals(namesOf(index, "文件"), ["read_file"]);
  assertEquals(namesOf(index, "读"), ["read_file"]);
  assertEquals(namesOf(index, "desk"), ["read_file"]);
  assertEquals(namesOf(index, "of the"), []);
});

Deno.test("search() forgets a Computer that has left or has other tools, and keeps the others", async () => {
  const shout = [tool("shout", "Says it aloud", { computer: "desk" })];
  const index = await indexOf({ laptop: [tool("echo", "Says it again")], desk: shout });
  assertEquals(namesOf(index, "says").sort(), ["echo", "shout"]);
  await indexOf({ laptop: [tool("whisper", "Says it softly")], desk: shout }, index);
  assertEquals(namesOf(index, "says").sort(), ["shout", "whisper"]);
  await indexOf({ desk: shout }, index);
  assertEquals(namesOf(index, "says"), ["shout"]);
});

Deno.test("search() gives the newest definition of a tool whose words have not changed", async () => {
  const index = await indexOf({ laptop: [tool("echo", "Says it again")] });
  const renewed = tool("echo", "Says it again");
  await indexOf({ laptop: [renewed] }, index);
  assertEquals(index.search("says")[0], renewed);
  assertEquals(index.tools, [renewed]);
});

Deno.test("search() keeps a name that has gone from one Computer to another", async () => {
  const index = await indexOf({ laptop: [tool("echo", "Says it again")] });
  const moved = tool("echo", "Says it again", { computer: "desk" });
  await indexOf({ desk: [moved] }, index);
  assertEquals(index.search("says"), [moved]);
  await indexOf({ laptop: [tool("echo", "Says it again")] }, index);
  assertEquals(index.search("says").map(({ computer }) => computer), ["laptop"]);
});

Deno.test("search() orders equally good tools by name, and keeps to the limit", async () => {
  const index = await indexOf({ laptop: ["c", "a", "b"].map((letter) => tool(`copy_${letter}`, "Copies")) });
  assertEquals(namesOf(index, "copies", 2), ["copy_a", "copy_b"]);
});

Deno.test("search() counts each word of a query once, and only so many of them", async () => {
  const index = await indexOf({ desk: [tool("send_mail", "Sends"), tool("read_file", "Reads a file")] });
  assertEquals(namesOf(index, `mail ${"file Files ".repeat(300)}`), namesOf(index, "mail file"));
  const fillers = Array.from(
    { length: 64 },
    (_, at) => `w${String.fromCharCode(97 + at % 26, 97 + at / 26)}zz`,
  );
  assertEquals(namesOf(index, `${fillers.join(" ")} mail`), []);
});

Deno.test("of 300 real tools, the search finds the right one among the first five", async () => {
  const index = await indexRealTools();
  assertEquals(realTools.length, 300);
  assert(recallAt(5, tuning, index) >= 0.65, "in the words of a user, tuned");
  assert(recallAt(5, heldOut, index) >= 0.55, "in the words of a user, not tuned");
  assert(recallAt(5, asked, index) >= 0.9, "in the words of a model");
});
