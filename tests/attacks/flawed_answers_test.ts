/** Attacker: a Computer. Its answers hold so many wrong entries that its Agent would do nothing but read them */
import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import { MAX_BAD_ENTRIES } from "../../src/protocol/flaws.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { ScriptedComputer } from "../integration/_scripted_computer.ts";

const COUNT = 20_000;

function filled(value: unknown): unknown[] {
  return Array.from({ length: COUNT }, () => value);
}

const answers = {
  "client:get_tools": () => ({ tools: filled(null) }),
  "client:get_finder": () => ({ documents: filled({}), total_count: 0 }),
  "client:get_config": () => ({
    servers: Object.fromEntries(filled({}).map((server, index) => [index, server])),
  }),
};

const requests: Record<string, (computer: RemoteComputer) => Promise<unknown>> = {
  tools: (computer) => computer.getTools(),
  documents: (computer) => computer.getFinder(),
  servers: (computer) => computer.getConfig(),
};

for (const [member, request] of Object.entries(requests)) {
  Deno.test(`an answer of wrong ${member} costs its Agent no more than the first of them`, async () => {
    const log = new LogBook();
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, { answers });
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", logger: log });
    await request(agent.computer("laptop"));
    assertEquals(log.of("warn").map(({ fields }) => fields["count"]), [MAX_BAD_ENTRIES + 1]);
  });
}
