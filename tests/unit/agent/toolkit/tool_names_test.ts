import fc from "../../../fixtures/fast_check.ts";
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { MAX_NAME_LENGTH, type ToolAddress, ToolNames } from "../../../../src/agent/toolkit/tool_names.ts";

const at = (computer: string, tool: string): ToolAddress => ({ computer, tool });

/** The names of tools that came at the same time, in their order. */
function named(tools: readonly ToolAddress[], names = new ToolNames()): (string | undefined)[] {
  names.assign(tools);
  return tools.map((tool) => names.nameOf(tool));
}

/** Few short names, so that they collide, and some that are long or hardly acceptable. */
const anyText = fc.oneof(
  fc.constantFrom("a", "b", "a__b", "b__a", "read", "read file", "read.file", "工具", "lab_1"),
  fc.string({ minLength: 1, maxLength: 80 }),
);
const anyTools = fc.uniqueArray(fc.record({ computer: anyText, tool: anyText }), {
  selector: ({ computer, tool }) => JSON.stringify([computer, tool]),
  maxLength: 30,
});

Deno.test("a tool that one Computer alone offers has its bare name", () => {
  assertEquals(named([at("desk", "read"), at("laptop", "write")]), ["read", "write"]);
});

Deno.test("tools that come at the same time with one name are all named after their Computers", () => {
  assertEquals(named([at("laptop", "read"), at("desk", "read")]), ["laptop__read", "desk__read"]);
});

Deno.test("a newcomer never renames an older tool, and the older one keeps its name when it comes back", () => {
  const names = new ToolNames();
  assertEquals(named([at("desk", "read")], names), ["read"]);
  assertEquals(named([at("desk", "read"), at("laptop", "read")], names), ["read", "laptop__read"]);
  assertEquals(named([at("laptop", "read")], names), ["laptop__read"]);
  assertEquals(named([at("laptop", "read"), at("desk", "read")], names), ["laptop__read", "read"]);
});

Deno.test("a name of more than 48 characters is shortened, with a suffix of its own", () => {
  const long = "x".repeat(MAX_NAME_LENGTH + 1);
  assertEquals(named([at("desk", long.slice(1))]), [long.slice(1)]);
  const [one = "", other = ""] = named([at("desk", `${long}1`), at("desk", `${long}2`)]);
  for (const name of [one, other]) assertMatch(name, /^x{41}_[0-9a-z]{6}$/);
  assertNotEquals(one, other);
  // The suffix depends on the tool alone, not on the others.
  assertEquals(named([at("desk", `${long}2`)]), [other]);
});

Deno.test("characters that clients refuse become underscores", () => {
  assertEquals(named([at("desk", "files/read file")]), ["files_read_file"]);
  assertEquals(named([at("办公室", "工具"), at("desk", "工具")]), ["computer__tool", "desk__tool"]);
});

Deno.test("a made-up name never takes the bare name of another tool", () => {
  const long = "x".repeat(60);
  const [shortened = ""] = named([at("a", long)]);
  assertEquals(named([at("a", long), at("b", shortened)])[1], shortened);
});

Deno.test("a tool whose name begins with another Computer is named after its own", () => {
  assertEquals(named([at("a", "b"), at("c", "b"), at("d", "a__b")]), ["a__b", "c__b", "d__a__b"]);
  assertEquals(named([at("a", "a__b"), at("c", "x__y"), at("d", "__a__b")]), ["a__b", "x__y", "__a__b"]);
});

Deno.test("a Computer with ever new names makes none of another one forgotten", () => {
  const names = new ToolNames();
  names.assign([at("desk", "read"), at("laptop", "write")]);
  for (let round = 0; round < 6; round++) {
    names.assign(Array.from({ length: 5_000 }, (_, index) => at("bad", `t${round}-${index}`)));
  }
  assertEquals(names.given.length, 20_000);
  assertEquals(named([at("bad", "read"), at("bad", "write")], names), ["bad__read", "bad__write"]);
  assertEquals(named([at("desk", "read"), at("laptop", "write")], names), ["read", "write"]);
});

Deno.test("reserved names go to no tool", () => {
  const names = new ToolNames({
    reserved: ["view_desktop"],
    given: [{ ...at("a", "x"), name: "view_desktop" }],
  });
  assertEquals(named([at("a", "x"), at("desk", "view_desktop")], names), ["x", "desk__view_desktop"]);
});

Deno.test("given names are kept, except those that clients would refuse or that are given twice", () => {
  const given = [
    { ...at("desk", "read"), name: "my_read" },
    { ...at("desk", "read"), name: "other_read" },
    { ...at("laptop", "read"), name: "my_read" },
    { ...at("desk", "write"), name: "not accepted" },
    { ...at("desk", "move"), name: "x".repeat(49) },
  ];
  const names = new ToolNames({ given });
  assertEquals(names.given, given.slice(0, 1));
  const tools = [at("desk", "read"), at("laptop", "read"), at("desk", "write"), at("a", "other_read")];
  assertEquals(named(tools, names), ["my_read", "read", "write", "other_read"]);
});

Deno.test("a given name without a Computer that offers it is still nobody else's", () => {
  const names = new ToolNames({ given: [{ ...at("desk", "read"), name: "read" }] });
  assertEquals(named([at("laptop", "read")], names), ["laptop__read"]);
});

Deno.test("assign() tells whether a name was given", () => {
  const names = new ToolNames();
  assertEquals([names.assign([at("a", "x")]), names.assign([at("a", "x")])], [true, false]);
});

Deno.test("all names are unique, and such that clients accept them", () => {
  fc.assert(fc.property(anyTools, (tools) => {
    const reserved = ["read", "a__b"];
    const all = named(tools, new ToolNames({ reserved }));
    assertEquals(new Set(all).size, tools.length);
    for (const name of all) {
      assert(name !== undefined && /^[a-zA-Z0-9_-]+$/.test(name) && name.length <= MAX_NAME_LENGTH);
      assert(!reserved.includes(name));
    }
  }));
});

Deno.test("without a history, names depend on the set of tools and not on their order", () => {
  const shuffled = anyTools.chain((tools) =>
    fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length }))
  );
  fc.assert(fc.property(shuffled, ([tools, others]) => {
    const [one, other] = [new ToolNames(), new ToolNames()];
    one.assign(tools);
    other.assign(others);
    for (const tool of tools) assertEquals(one.nameOf(tool), other.nameOf(tool));
  }));
});

Deno.test("names stay as they are whatever comes later, also over a restart", () => {
  fc.assert(fc.property(anyTools, anyTools, (before, after) => {
    const names = new ToolNames();
    const first = named(before, names);
    names.assign(after);
    assertEquals(before.map((tool) => names.nameOf(tool)), first);
    const restarted = new ToolNames({ given: names.given });
    assertEquals(named(before, restarted), first);
  }));
});

Deno.test("the names of a machine do not go to another machine of its name", () => {
  const first = { ...at("desk", "read"), machine: "machine:1" };
  const second = { ...first, machine: "machine:2" };
  const names = new ToolNames({ given: [{ ...at("desk", "read"), name: "read" }] });
  assertEquals(named([first], names), ["read"], "a name from before its machine was known");
  const [other] = named([second], names);
  assertNotEquals(other, "read");
  assertEquals(named([at("desk", "read")], names)[0] === "read", false, "an unknown machine may be any");
  const kept = new ToolNames({ given: names.given });
  assertEquals(named([first], kept), ["read"]);
  assertEquals(named([second], kept), [other]);
});
