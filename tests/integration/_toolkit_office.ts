/** An office whose Computer has tools that do something, hang, fail and return pictures. */
import type { Toolkit } from "../../src/agent/toolkit/toolkit.ts";
import type { Message } from "../fixtures/script.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

/** A picture, as an MCP server returns it. */
export const PICTURE = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
/** What {@linkcode PICTURE} comes with: a link, a sound and an embedded text. */
export const BESIDE = [
  { type: "text", text: "Sales" },
  { type: "resource_link", uri: "dpe://com.example/report", name: "Report", mimeType: "text/markdown" },
  { type: "audio", data: "AAAA", mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "file:///a.json", mimeType: "application/json", text: "{}" } },
];

const TOOLS = [
  { name: "press", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } },
  { name: "hang", description: "Never ends.", inputSchema: { type: "object" } },
  {
    name: "chart",
    description: "Draws.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
  {
    name: "erase",
    title: "Erase",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    annotations: { destructiveHint: true },
  },
];

/** Opens the office: MCP servers `kiosk` and `lab`. */
export function openToolkitOffice(): Promise<ComputerOffice> {
  const lab = scripted({
    tools: TOOLS,
    hang: ["tools/call hang"],
    answers: { "tools/call chart": { content: [...BESIDE, PICTURE] } },
  });
  return ComputerOffice.open({ servers: { kiosk: kioskOnStdio(), lab } });
}

/** What the MCP server `lab` has received. */
async function receivedByLab(kit: Toolkit): Promise<Message[]> {
  const { structuredContent, content } = await kit.call("received");
  return (structuredContent ?? JSON.parse(String(content[0]?.["text"]))) as Message[];
}

/** Resolves when a call of `hang` runs on the MCP server. */
export async function untilItHangs(kit: Toolkit): Promise<void> {
  const isHanging = (messages: Message[]) =>
    messages.some(({ method, params }) => method === "tools/call" && params?.["name"] === "hang");
  await eventually(() => receivedByLab(kit), isHanging, "the call to reach the MCP server");
}

/** Resolves when the MCP server was told that a call is cancelled. */
export async function untilCancelled(kit: Toolkit): Promise<void> {
  const isCancelled = (messages: Message[]) =>
    messages.some(({ method }) => method === "notifications/cancelled");
  await eventually(() => receivedByLab(kit), isCancelled, "the MCP server to be told of the end of the call");
}
