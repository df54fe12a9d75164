/** `client:get_resource_templates` (`docs/protocol/extensions.md#templates`). */
import { badRequest } from "../../protocol/errors.ts";
import { parseGetResourceTemplatesReq } from "../../protocol/parse.ts";
import type { GetResourceTemplatesRet, ResourceTemplateInfo } from "../../protocol/resource_templates.ts";
import { shorten } from "../../text.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import type { McpHost } from "../host.ts";
import type { ListedTemplate } from "../resources/templates.ts";

/** How much of a template a log line tells. */
const MAX_NAMED_LENGTH = 200;

export async function handleGetResourceTemplates(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): Promise<GetResourceTemplatesRet> {
  const request = parseGetResourceTemplatesReq(body);
  const { mcp_server, cursor, req_id } = request;
  const timeoutMs = timeoutMsOf(request);
  if (mcp_server === undefined) {
    if (cursor !== undefined) {
      throw badRequest("cursor", 'Cannot list from a cursor: name the server of the page in "mcp_server"');
    }
    return {
      resource_templates: await fit(host, await host.templates.all({ timeoutMs }), limitBytes),
      req_id,
    };
  }
  const { templates, nextCursor } = await host.templates.page(mcp_server, { cursor, timeoutMs });
  return {
    resource_templates: await fit(host, templates, limitBytes),
    ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    req_id,
  };
}

function fit(
  host: McpHost,
  templates: readonly ListedTemplate[],
  limitBytes: number,
): Promise<ResourceTemplateInfo[]> {
  const items = templates.map(({ server, template }) => ({
    server,
    name: shorten(template.uri_template, MAX_NAMED_LENGTH),
    key: template,
    render: () => template,
  }));
  return host.fit(items, { what: "resource templates", limitBytes, keeps: "first" });
}
