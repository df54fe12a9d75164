// The examples of the specification must be what the code reads: those under a heading that names a structure are
// parsed as that structure, all others must be JSON.

import { assert, assertEquals } from "@std/assert";
import {
  parseGetBlobRet,
  parseGetComputerConfigRet,
  parseGetDeskTopRet,
  parseGetDpeRet,
  parseGetFinderRet,
  parseGetResourcesRet,
  parseGetToolsRet,
  parseInputRequired,
  parseOpenInputRet,
  parseReadResourceRet,
} from "../src/protocol/answers.ts";
import { pageSummary, parseDpeDocument, parseDpeElement, parseDpePage } from "../src/protocol/dpe_answers.ts";
import { parseListRoomRet } from "../src/protocol/office_answers.ts";
import * as blobs from "../src/protocol/blobs.ts";
import { ErrorCode } from "../src/protocol/error_codes.ts";
import { isRecord } from "../src/json/json.ts";
import { fromErrorAck } from "../src/protocol/errors.ts";
import * as events from "../src/protocol/events.ts";
import type { AnswerReader, OnFlaw } from "../src/protocol/flaws.ts";
import {
  parseAnswerInputReq,
  parseGetBlobReq,
  parseGetComputerConfigReq,
  parseGetDeskTopReq,
  parseGetDpeReq,
  parseGetFinderReq,
  parseGetMcpServersReq,
  parseGetPromptReq,
  parseGetPromptsReq,
  parseGetResourcesReq,
  parseGetToolsReq,
  parseOpenInputReq,
  parseReadResourceReq,
  parseToolCallReq,
} from "../src/protocol/parse.ts";
import {
  parseAgentCallData,
  parseEnterOfficeReq,
  parseLeaveOfficeReq,
  parseListRoomReq,
  parseOfficeNotification,
  parseUpdateComputerConfigReq,
} from "../src/protocol/office_requests.ts";
import {
  parseGetMcpServersRet,
  parseGetPromptRet,
  parseGetPromptsRet,
} from "../src/protocol/prompt_answers.ts";
import { A2C_INPUT_REQUIRED } from "../src/protocol/questions.ts";
import { parserOf, type Schema } from "../src/protocol/schemas/schema.ts";
import * as config from "../src/protocol/schemas/config.ts";
import * as schemas from "../src/protocol/schemas/answers.ts";
import * as toolKeys from "../src/protocol/tools.ts";
import { parseCallToolResult } from "../src/protocol/tool_result.ts";
import { readAllExamples, readPage, readPages } from "./fixtures/protocol_examples.ts";

type Reader = AnswerReader<unknown>;

function read<T>(schema: Schema<T>): Reader {
  return parserOf("example", schema);
}

/** How the examples under each of these headings are read. */
const READERS: Readonly<Record<string, readonly Reader[]>> = {
  AgentCallData: [parseAgentCallData],
  ToolCallReq: [parseToolCallReq],
  CallToolResult: [parseCallToolResult],
  GetToolsReq: [parseGetToolsReq],
  GetToolsRet: [parseGetToolsRet],
  "Tool meta": [read(schemas.smcpTool)],
  ToolMeta: [read(config.toolMeta)],
  EnterOfficeReq: [parseEnterOfficeReq],
  LeaveOfficeReq: [parseLeaveOfficeReq],
  EnterOfficeNotification: [parseOfficeNotification],
  LeaveOfficeNotification: [parseOfficeNotification],
  ListRoomReq: [parseListRoomReq],
  ListRoomRet: [parseListRoomRet],
  UpdateComputerConfigReq: [parseUpdateComputerConfigReq],
  UpdateMCPConfigNotification: [parseUpdateComputerConfigReq],
  UpdateToolListNotification: [parseUpdateComputerConfigReq],
  GetComputerConfigReq: [parseGetComputerConfigReq],
  GetComputerConfigRet: [parseGetComputerConfigRet],
  MCPServerStdioConfig: [read(config.serverConfig)],
  MCPServerStreamableHttpConfig: [read(config.serverConfig)],
  MCPSSEConfig: [read(config.serverConfig)],
  MCPServerPromptStringInput: [read(config.input)],
  MCPServerPickStringInput: [read(config.input)],
  MCPServerCommandInput: [read(config.input)],
  GetDeskTopReq: [parseGetDeskTopReq],
  GetDeskTopRet: [parseGetDeskTopRet],
  GetFinderReq: [parseGetFinderReq],
  GetFinderRet: [parseGetFinderRet],
  DPEPageSummary: [read(pageSummary)],
  DPEElementDetail: [parseDpeElement],
  ReadResourceReq: [parseReadResourceReq],
  ReadResourceRet: [parseReadResourceRet],
  GetResourcesReq: [parseGetResourcesReq],
  GetResourcesRet: [parseGetResourcesRet],
  GetDpeReq: [parseGetDpeReq],
  GetDpeRet: [parseGetDpeRet],
  "Fetching a blob": [parseGetBlobReq, parseGetBlobRet],
  "Entry example": [parseGetDeskTopRet],
  "Level 0: catalogue": [parseCatalogue],
  "Level 1: document": [parseDpeDocument],
  "Level 2: page": [parseDpePage],
  "Level 3: element": [parseDpeElement],
  "Update events": [parseUpdateComputerConfigReq],
  "Who is asked": [parseCallToolResult],
  "Opening the channel": [parseOpenInputReq, parseOpenInputRet],
  "Input required": [parseQuestion, parseInputRequired],
  Answering: [parseAnswerInputReq],
  Approvals: [parseQuestion],
  "Title and icons": [read(schemas.smcpTool)],
  "MCP Apps": [read(schemas.smcpTool)],
  "List of MCP servers": [parseGetMcpServersReq, parseGetMcpServersRet],
  Prompts: [parseGetPromptsReq, parseGetPromptsRet],
  "Filling in a prompt": [parseGetPromptReq, parseGetPromptRet],
};

const examples = await readAllExamples();

Deno.test("each JSON example of the specification is JSON", () => {
  const broken = examples.filter(({ text }) => !isJson(text));
  assertEquals(broken.map(({ page, heading }) => `${page}: ${heading}`), []);
});

Deno.test("each example of a structure is read without a flaw", () => {
  for (const [heading, readers] of Object.entries(READERS)) {
    const found = examples.filter((example) => example.heading === heading);
    assert(found.length >= readers.length, `no example of ${heading}`);
    for (const [index, { text }] of found.entries()) {
      const flaws: string[] = [];
      readers[index % readers.length]?.(
        JSON.parse(text),
        (field, what) => flaws.push(`${heading}: ${field}: ${what}`),
      );
      assertEquals(flaws, []);
    }
  }
});

Deno.test("each example of an error has a code of the protocol", () => {
  const codes = new Set<number>(Object.values(ErrorCode));
  const errors = examples.filter(({ page }) => page === "errors.md").map(({ text }) => JSON.parse(text));
  const unknown = errors.map((example) =>
    fromErrorAck(example)?.code ?? (isRecord(example["meta"]) ? example["meta"]["error_code"] : undefined)
  ).filter((code) => typeof code !== "number" || !codes.has(code));
  assertEquals(unknown, []);
});

Deno.test("errors.md has one heading for each error code", async () => {
  const page = await readPage("errors.md");
  const described = [...page.matchAll(/^### (\d+) /gm)].map(([, code]) => Number(code)).sort();
  assertEquals(described, Object.values(ErrorCode).toSorted());
});

Deno.test("the pages of the specification name each event and each key of metadata", async () => {
  const pages = await readPages();
  const text = pages.join("\n");
  const names = [events, blobs, toolKeys].flatMap((module) => Object.values(module)).filter((value) =>
    typeof value === "string" && !value.endsWith("_") && !value.endsWith(":")
  );
  assertEquals(names.filter((name) => !text.includes(name)), []);
});

/** Level 0 has no message of its own: its documents are read one by one. */
function parseCatalogue(body: unknown, onFlaw?: OnFlaw): unknown {
  assert(isRecord(body) && Array.isArray(body["documents"]));
  assertEquals(body["total_count"], body["documents"].length);
  return body["documents"].map((document) => parseDpeDocument(document, onFlaw));
}

/** A result whose metadata has a question. */
function parseQuestion(body: unknown, onFlaw?: OnFlaw): unknown {
  return parseInputRequired(
    JSON.parse(String(parseCallToolResult(body, onFlaw).meta?.[A2C_INPUT_REQUIRED])),
    onFlaw,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
