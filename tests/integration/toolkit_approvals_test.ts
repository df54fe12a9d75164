/** Which tools a toolkit asks a person for, by the annotations that an MCP server gives them. */
import { createToolkit } from "../../src/agent/toolkit/toolkit.ts";
import { assertEquals } from "@std/assert";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

/** Annotations, and whether the tool is asked for: silence and nonsense count as MCP's defaults. */
const ANNOTATIONS: readonly (readonly [annotations: unknown, isAsked: boolean])[] = [
  [undefined, true],
  [{}, true],
  [{ title: "Harmless" }, true],
  [{ openWorldHint: true }, true],
  [{ idempotentHint: true }, true],
  [{ readOnlyHint: false }, true],
  [{ destructiveHint: true }, true],
  [{ readOnlyHint: false, destructiveHint: true }, true],
  ...["true", 1, null, [true], {}].map((hint) => [{ readOnlyHint: hint }, true] as const),
  ...["false", 0, null, [], ""].map((hint) => [{ destructiveHint: hint }, true] as const),
  ["readOnlyHint", true],
  [{ readOnlyHint: true }, false],
  [{ readOnlyHint: true, destructiveHint: true }, false],
  [{ destructiveHint: false }, false],
  [{ readOnlyHint: false, destructiveHint: false }, false],
];

Deno.test("a tool is asked for unless it says that it reads, or destroys nothing; a rule overrides that", async () => {
  const tools = ANNOTATIONS.map(([annotations], index) => ({
    name: `tool${index}`,
    inputSchema: { type: "object" },
    ...(annotations === undefined ? {} : { annotations }),
  }));
  await using office = await ComputerOffice.open({ servers: { lab: scripted({ tools }) } });
  using kit = createToolkit(office.agent, { builtins: false });
  const ai = await kit.aiTools();
  const open = await kit.openAiTools();
  const listed = tools.filter(({ name }) => ai[name] !== undefined);
  assertEquals(
    listed.length >= tools.length - 1,
    true,
    "only annotations that are no object may cost a tool",
  );
  for (const { name } of listed) {
    const [annotations, isAsked] = ANNOTATIONS[tools.findIndex((tool) => tool.name === name)] ?? [];
    const own = await open.find((tool) => tool.name === name)?.needsApproval();
    assertEquals([ai[name]?.needsApproval, own], [isAsked, isAsked], JSON.stringify(annotations));
  }
  using quiet = createToolkit(office.agent, {
    builtins: false,
    needsApproval: ({ name }) => name === "tool15",
  });
  const asked = Object.entries(await quiet.aiTools()).filter(([, tool]) => tool.needsApproval);
  assertEquals(asked.map(([name]) => name), ["tool15"]);
});

Deno.test("the toolkit asks nobody before its own tools, which read", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  using kit = createToolkit(office.agent);
  assertEquals(Object.values(await kit.aiTools()).map(({ needsApproval }) => needsApproval), [
    false,
    false,
    false,
    false,
  ]);
});
