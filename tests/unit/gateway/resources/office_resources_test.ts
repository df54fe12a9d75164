import { assert, assertEquals } from "@std/assert";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import type { RemoteComputer } from "../../../../src/agent/remote_computer.ts";
import { OfficeResources } from "../../../../src/gateway/resources/office_resources.ts";
import { ResourceUris } from "../../../../src/gateway/resources/uris.ts";
import { silentLogger } from "../../../../src/log.ts";
import { FakeOffice } from "../_fake_office.ts";

/** Lists the resources of a Computer that can do this. */
async function list(abilities: Partial<RemoteComputer>) {
  using view = new OfficeView();
  await view.follow(new FakeOffice(["laptop"], abilities));
  const resources = new OfficeResources({
    view,
    uris: new ResourceUris(),
    logger: silentLogger,
    onLate: () => undefined,
  });
  return await resources.list(["laptop"]);
}

const servers = (count: number) =>
  Promise.resolve(Array.from({ length: count }, (_, index) => ({
    mcp_server: `s${index}`,
    status: "running" as const,
    capabilities: { resources: {} },
  }))) as never;

Deno.test("all MCP servers of a Computer together list a bounded number of resources", async () => {
  let pages = 0;
  const { resources } = await list({
    getMcpServers: () => servers(100),
    getResources: (mcpServer) => {
      const page = pages++;
      const resources = Array.from(
        { length: 1_000 },
        (_, index) => ({ uri: `x:${mcpServer}/${page}/${index}` }),
      );
      return Promise.resolve({ resources, nextCursor: "more" });
    },
    getResourceTemplates: () => Promise.resolve({ resourceTemplates: [] }),
  });
  assertEquals(resources.length, 10_000);
  assert(pages < 30, `${pages} pages`);
});

Deno.test("all MCP servers of a Computer together list a bounded number of characters", async () => {
  let pages = 0;
  await list({
    getMcpServers: () => servers(100),
    getResources: (mcpServer) => {
      const resources = [{ uri: `x:${mcpServer}/${pages++}`, description: "x".repeat(200_000) }];
      return Promise.resolve({ resources, nextCursor: "more" });
    },
    getResourceTemplates: () => Promise.resolve({ resourceTemplates: [] }),
  });
  assert(pages < 110, `${pages} pages`);
});
