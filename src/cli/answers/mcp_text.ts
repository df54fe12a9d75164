/** MCP servers, prompts, resources and templates as text. Pure: values in, text out. */
import type { McpServerInfo } from "../../protocol/mcp_servers.ts";
import type { GetPromptRet, PromptInfo } from "../../protocol/prompts.ts";
import type { ResourceTemplateInfo } from "../../protocol/resource_templates.ts";
import type { ResourceInfo } from "../../protocol/resources.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import {
  printableLine,
  toFence,
  toSeenLine,
  toSeenUri,
  toSeenWord,
  withoutSequences,
} from "../../text/safe_text.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";
import { drawColumns } from "../../terminal/shapes.ts";
import { contentsText } from "./contents.ts";
import type { SkillRef } from "../../protocol/skills.ts";

/** A line for each MCP server: name, status, title, version of MCP. */
export function serversText(servers: readonly McpServerInfo[], { strong, faint }: Palette = PLAIN): string {
  if (servers.length === 0) return "no MCP servers";
  const rows = servers.map((server) => [
    toSeenWord(server.mcp_server),
    server.status,
    titleOf(server),
    server.mcp_version === undefined ? "" : `MCP ${server.mcp_version}`,
  ]);
  return drawColumns(rows, { paints: [strong, undefined, undefined, faint] });
}

export function serverText(server: McpServerInfo): string {
  const { description, website_url } = server.server_info ?? {};
  const { capabilities, instructions, instructions_cut } = server;
  const lines = [
    serversText([server]),
    ...(description === undefined ? [] : [`description: ${toSeenLine(description)}`]),
    ...(website_url === undefined ? [] : [`website: ${toSeenUri(website_url)}`]),
  ];
  if (capabilities !== undefined) {
    lines.push(`capabilities: ${Object.keys(capabilities).map(toSeenWord).join(", ") || "none"}`);
  }
  if (instructions !== undefined) {
    lines.push(
      "",
      `instructions${instructions_cut === true ? " (cut)" : ""}`,
      toFence(withoutSequences(instructions)),
    );
  }
  return withoutSequences(lines.join("\n"));
}

function titleOf({ server_info }: McpServerInfo): string {
  const { title, name, version } = server_info ?? {};
  return [title ?? name, version].filter((part) => part !== undefined).join(" ");
}

/** For each prompt a line with its arguments and its title, then its description. */
export function promptsText(prompts: readonly PromptInfo[], { accent, faint }: Palette = PLAIN): string {
  if (prompts.length === 0) return "no prompts";
  return prompts.map((prompt) => {
    const { name, title, description } = prompt;
    const head = `${accent(toSeenWord(name))}${printableLine(`(${argumentsText(prompt)})`)}`;
    const remarks = [title === name ? undefined : title, serverOf(prompt)].filter((part) =>
      part !== undefined
    );
    const lines = (description ?? "").trim().split("\n").filter((line) => line !== "");
    return [
      [head, ...remarks.map((remark) => faint(printableLine(remark)))].join("  "),
      ...lines.map((line) => `    ${printableLine(line)}`),
    ].join("\n");
  }).join("\n");
}

function argumentsText({ arguments: args = [] }: PromptInfo): string {
  return args.map(({ name, required }) => `${name}${required === true ? "" : "?"}`).join(", ");
}

export function promptText({ messages }: GetPromptRet): string {
  return messages.map(({ role, content }) => `${role}:\n${contentsText({ content: [content] })}`).join(
    "\n\n",
  );
}

export function resourcesText(
  resources: readonly (ResourceInfo & { readonly mcp_server: string })[],
  { strong, faint }: Palette = PLAIN,
): string {
  if (resources.length === 0) return "no resources";
  const rows = resources.map(({ uri, title, name, mime_type, mcp_server }) => [
    toSeenUri(uri),
    title ?? name ?? "",
    mime_type ?? "",
    mcp_server,
  ]);
  return drawColumns(rows, { paints: [strong, undefined, undefined, faint] });
}

export function templatesText(
  templates: readonly ResourceTemplateInfo[],
  { strong, faint }: Palette = PLAIN,
): string {
  if (templates.length === 0) return "no resource templates";
  const rows = templates.map((template) => {
    const { uri_template, title, name, mime_type } = template;
    return [toSeenUri(uri_template), title ?? name ?? "", mime_type ?? "", serverOf(template) ?? ""];
  });
  return drawColumns(rows, { paints: [strong, undefined, undefined, faint] });
}

function serverOf({ _meta }: Pick<PromptInfo, "_meta">): string | undefined {
  const server = _meta?.[A2C_MCP_SERVER];
  return typeof server === "string" ? server : undefined;
}

export function skillsText(skills: readonly SkillRef[], { accent, faint }: Palette = PLAIN): string {
  if (skills.length === 0) return "no skills";
  return skills.map(({ name, source, description, tags = [] }) => {
    const remarks = [source, ...tags.map((tag) => `#${tag}`)].join("  ");
    return `${accent(toSeenWord(name))}  ${faint(printableLine(remarks))}\n    ${printableLine(description)}`;
  }).join("\n");
}
