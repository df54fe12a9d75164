import { assert, assertEquals, assertThrows } from "@std/assert";
import { ResourceWatch } from "../../../../src/computer/resources/watch.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

const ROOM = { servers: ["a", "b"], limitBytes: 1_000_000 };

function setUp(maxSubscriptions = 10) {
  let changes = 0;
  const watch = new ResourceWatch({ maxSubscriptions, onChange: () => void changes++ });
  const add = (server: string, uri: string, as = uri) =>
    watch.add({ server, uri }, { as, office: watch.office });
  return { watch, add, changes: () => changes };
}

Deno.test("an update is read once, from the cursor of the answer before", () => {
  const { watch, add, changes } = setUp();
  assertEquals([add("a", "file:///x"), add("a", "file:///x")], [true, false]);
  watch.onUpdated("a", "file:///x");
  watch.onUpdated("a", "file:///x");
  watch.onUpdated("b", "file:///x");
  watch.onListChanged("b");
  assertEquals(changes(), 3);
  const first = watch.read(undefined, ROOM);
  assertEquals(first.updates, [{ mcp_server: "a", uri: "file:///x" }, { mcp_server: "b" }]);
  assertEquals(watch.read(first.cursor, ROOM).updates, []);
  watch.onUpdated("a", "file:///x");
  assertEquals(watch.read(first.cursor, ROOM).updates, [{ mcp_server: "a", uri: "file:///x" }]);
});

Deno.test("what is below a resource that is subscribed to belongs to it, and it is told as the Agent spelled it", () => {
  const { watch, add } = setUp();
  add("a", "dpe://h/doc", "dpe://H/doc");
  add("a", "file:///folder/");
  for (const uri of ["dpe://h/doc/pages/1", "file:///folder/x", "dpe://h/document", "dpe://h"]) {
    watch.onUpdated("a", uri);
  }
  assertEquals(watch.read(undefined, ROOM).updates, [
    { mcp_server: "a", uri: "dpe://H/doc" },
    { mcp_server: "a", uri: "file:///folder/" },
  ]);
});

Deno.test("subscriptions are bounded over all servers, and one that ends makes room and is told of no more", () => {
  const { watch, add } = setUp(2);
  add("a", "file:///1");
  add("b", "file:///2");
  const error = assertThrows(() => add("a", "file:///3"), SmcpError);
  assertEquals([error.code, error.details], [400, { field: "uri" }]);
  watch.onAllUpdated("a");
  assertEquals(watch.delete("file:///1").map(({ server }) => server), ["a"]);
  assertEquals(watch.read(undefined, ROOM).updates, []);
  assert(add("a", "file:///3"));
  assertEquals(watch.delete("file:///2", "a"), []);
});

Deno.test("who asks with the cursor of an office that has ended is sent to look at every server", () => {
  const { watch, add } = setUp();
  const { office } = watch;
  add("a", "file:///x");
  watch.onUpdated("a", "file:///x");
  const { cursor } = watch.read(undefined, ROOM);
  watch.endOffice();
  assertEquals(watch.urisOf("a").size, 0);
  for (const stale of [cursor, "x", "", `${watch.office}.9`, `${watch.office}.-1`]) {
    assertEquals(watch.read(stale, ROOM).updates, [{ mcp_server: "a" }, { mcp_server: "b" }], stale);
  }
  const late = () => watch.add({ server: "a", uri: "u" }, { as: "u", office });
  assertEquals(assertThrows(late, SmcpError).code, 4103);
});

Deno.test("who asks from before what is remembered is sent to look at every server", () => {
  const { watch } = setUp(0);
  watch.onListChanged("first");
  const { cursor } = watch.read(undefined, ROOM);
  for (let index = 0; index < 2_000; index++) watch.onListChanged(`s${index}`);
  assertEquals(watch.read(cursor, ROOM).updates, [{ mcp_server: "a" }, { mcp_server: "b" }]);
  assertEquals(watch.read(undefined, ROOM).updates.length, 2);
});

Deno.test("what does not fit into one answer comes with the next", () => {
  const { watch, add } = setUp(100);
  const uris = Array.from({ length: 100 }, (_, index) => `file:///${index}`);
  for (const uri of uris) add("a", uri);
  watch.onAllUpdated("a");
  const read: (string | undefined)[] = [];
  let cursor: string | undefined;
  for (let hasMore = true; hasMore;) {
    const answer = watch.read(cursor, { ...ROOM, limitBytes: 4_096 });
    assert(JSON.stringify(answer.updates).length < 4_096);
    read.push(...answer.updates.map(({ uri }) => uri));
    ({ cursor, hasMore } = answer);
  }
  assertEquals(read, uris);
});
