import { assert, assertEquals } from "@std/assert";
import { serverOptionGroups } from "../../../src/cli/server/options.ts";
import { optionLabel } from "../../../src/server/number_options.ts";
import type { ListenOptions } from "../../../src/server/options.ts";

const LIMITS = [
  "maxPayloadBytes",
  "maxMessageMemoryBytes",
  "maxOpenRequests",
  "maxPendingConnections",
  "maxPendingConnectionsPerAddress",
  "maxSockets",
  "maxConnectionsPerPrincipal",
  "maxConnectionsPerAddress",
  "maxConnectsPerPrincipal",
  "maxConnectsPerAddress",
  "maxRequestsPerPrincipal",
  "maxRequestsPerAddress",
  "maxOffices",
  "maxOfficesPerPrincipal",
  "maxMembersPerOffice",
] as const satisfies readonly (keyof ListenOptions)[];

Deno.test("optionLabel() names each limit by the flag that the Server has, and by its property", () => {
  const flags = serverOptionGroups().flatMap(({ options }) => options.map(({ long }) => long));
  for (const name of LIMITS) {
    const [, flag = "", property] = /^(--\S+) \((\w+)\)$/.exec(optionLabel(name)) ?? [];
    assert(flags.includes(flag), flag);
    assertEquals(property, name);
  }
});
