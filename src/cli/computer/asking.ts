/** The questions of MCP servers to the person at the Computer. */
import type { QuestionRequest } from "../../computer/questions/question.ts";
import type { ShownQuestion } from "../questions/shown_question.ts";

export function fromRequest(request: QuestionRequest): ShownQuestion {
  const { server, tool, isLocal, agent, claimedAgent, message, problems, timeLeftMs, signal } = request;
  const caller = isLocal ? "user" : { agent, claimedAgent };
  const base = { asker: { server, tool, caller }, message, problems, timeLeftMs, signal } as const;
  switch (request.mode) {
    case "form":
      return { ...base, mode: "form", fields: request.fields, schema: request.schema };
    case "url":
      return { ...base, mode: "url", url: request.url };
  }
}
