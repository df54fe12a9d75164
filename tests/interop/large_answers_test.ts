import { assertEquals, assertObjectMatch } from "@std/assert";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { SmcpServer } from "../../server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { fields, interop, openComputer, picture, TOKEN } from "./_office.ts";
import { PythonPeer } from "./peer.ts";

const office = "lab";
const computer = "laptop";
const LIMIT_BYTES = 200_000;
const PICTURE_BYTES = 3_000_000;
const TEXT = "x".repeat(400_000);

/** Our Computer with a tool whose text and structured content are large. */
async function openTalker(): Promise<Computer> {
  const talk = scripted({
    tools: [{ name: "talk", inputSchema: { type: "object" } }],
    answers: {
      "tools/call talk": {
        content: [{ type: "text", text: "x*400000" }],
        structuredContent: { said: "x*300000" },
      },
    },
  });
  const talker = Computer.open({ name: computer, config: { servers: { talk } } });
  await talker.ready();
  return talker;
}

Deno.test(
  "a Python Agent fetches what is too large for one message from our Computer",
  interop,
  async (t) => {
    await using server = await SmcpServer.listen({ port: 0, maxPayloadBytes: LIMIT_BYTES });
    const address = ["--url", server.url, "--office", office, "--name", "ada"];

    await t.step("a picture of 3 MB, byte by byte", async () => {
      await using laptop = await openComputer(computer);
      await laptop.join({ url: server.url, office });
      await using ada = await PythonPeer.start("agent", address);
      const params = { size: PICTURE_BYTES };
      const result = fields(await ada.command({ command: "call", computer, tool: "picture", params }));
      assertEquals(result["content"], [
        {
          type: "image",
          data: picture(PICTURE_BYTES),
          mimeType: "image/png",
          annotations: null,
          _meta: null,
        },
      ]);
    });

    await t.step("a text as the bytes of an embedded resource, and structured content likewise", async () => {
      await using laptop = await openTalker();
      await laptop.join({ url: server.url, office });
      await using ada = await PythonPeer.start("agent", address);
      const result = fields(await ada.command({ command: "call", computer, tool: "talk" }));
      const blob = (mimeType: string, text: string) => ({
        type: "resource",
        resource: { mimeType, blob: btoa(text) },
      });
      assertObjectMatch(result, {
        isError: false,
        content: [
          blob("text/plain", TEXT),
          blob("application/json", JSON.stringify({ said: TEXT.slice(0, 300_000) })),
        ],
      });
    });

    await t.step("skills, of which there are none", async () => {
      await using laptop = await openTalker();
      await laptop.join({ url: server.url, office });
      await using ada = await PythonPeer.start("agent", address);
      const ask = async (event: string, body: Record<string, unknown> = {}) => {
        const data = { agent: "ada", req_id: crypto.randomUUID(), computer, ...body };
        return await ada.command({ command: "request", event, data });
      };
      assertObjectMatch({ answer: await ask("client:get_skills") }, { answer: [{ skills: [] }] });
      assertObjectMatch({ answer: await ask("client:get_skill", { name: "x" }) }, {
        answer: [{ code: 4014 }],
      });
      assertObjectMatch(
        { answer: await ask("client:get_blob", { blob_handle: "toolspool.x" }) },
        { answer: [{ code: 4018, details: { reason: "invalid_handle" } }] },
      );
    });
  },
);

Deno.test("our Agent fetches it through a Python Server, whose limit is 1 MB", interop, async () => {
  await using server = await PythonPeer.start("server", ["--token", TOKEN]);
  const address = { url: String(server.ready.url), office, token: TOKEN };
  await using laptop = await openComputer(computer);
  await laptop.join(address);
  await using agent = await Agent.connect({ ...address, name: "ada" });
  const { content } = await agent.computer(computer).callTool("picture", { size: PICTURE_BYTES });
  assertEquals(content, [{ type: "image", data: picture(PICTURE_BYTES), mimeType: "image/png" }]);
});
