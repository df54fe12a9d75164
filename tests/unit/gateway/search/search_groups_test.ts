import { assertEquals } from "@std/assert";
import type { OfficeTool } from "../../../../src/agent/toolkit/toolset.ts";
import { groupEqual, type ToolGroup } from "../../../../src/gateway/search/search_tools.ts";
import { officeTool } from "./_tools.ts";

const onComputers = (name: string, description: string, computers: readonly string[]): OfficeTool[] =>
  computers.map((computer) =>
    officeTool(name, description, { computer, clientName: `${computer}__${name}` })
  );
const namesOf = (groups: readonly ToolGroup[]) =>
  groups.map(({ tool, elsewhere }) => [tool, ...elsewhere].map(({ definition }) => definition.name));

Deno.test("groupEqual() counts a tool that several Computers have once", () => {
  const [deskRead, labRead] = onComputers("read", "Reads", ["desk", "lab"]);
  const [deskWrite, labWrite] = onComputers("write", "Writes", ["desk", "lab"]);
  const tools = [deskRead, deskWrite, labRead, labWrite].filter((tool) => tool !== undefined);
  assertEquals(namesOf(groupEqual(tools, 2)), [["desk__read", "lab__read"], ["desk__write", "lab__write"]]);
  assertEquals(namesOf(groupEqual(tools, 1)), [["desk__read", "lab__read"]]);
});

Deno.test("groupEqual() keeps tools of one name apart that differ in what a model reads", () => {
  const tools = [...onComputers("read", "Reads", ["desk"]), ...onComputers("read", "Reads loud", ["lab"])];
  assertEquals(namesOf(groupEqual(tools, 5)), [["desk__read"], ["lab__read"]]);
  assertEquals(namesOf(groupEqual(tools, 1)), [["desk__read"]]);
});
