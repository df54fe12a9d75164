import { assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { MAX_IDLE_QUOTAS, QuotaLedger, type QuotaSettings } from "../../../../src/server/admission/quotas.ts";

const UNBOUNDED = { connections: Infinity, connects: undefined, requests: undefined };

function openLedger(settings: Partial<QuotaSettings>): QuotaLedger {
  return new QuotaLedger({
    principal: UNBOUNDED,
    address: UNBOUNDED,
    messages: "principal",
    ...settings,
  });
}

const ada = { principal: "ada", address: "192.0.2.1" };

Deno.test("a network of IPv6 is one address, and principals named like members of objects are ordinary ones", () => {
  const ledger = openLedger({
    principal: { ...UNBOUNDED, connections: 1 },
    address: { ...UNBOUNDED, connections: 2 },
  });
  ledger.open({ principal: "__proto__", address: "2001:db8::1" });
  ledger.open({ principal: "constructor", address: "2001:db8::ffff" });
  assertThrows(
    () => ledger.open({ principal: "a", address: "2001:db8:0:0:9::" }),
    SmcpError,
    "of this address",
  );
  assertThrows(() => ledger.open({ principal: "__proto__", address: "::1" }), SmcpError, "of this principal");
});

Deno.test("a refused connection is not counted", () => {
  const ledger = openLedger({ principal: { ...UNBOUNDED, connections: 1 } });
  const { close } = ledger.open(ada);
  assertThrows(() => ledger.open(ada), SmcpError);
  close();
  ledger.open(ada).close();
});

Deno.test("a budget is kept after the last connection, until many others have come", () => {
  const connects = { perSecond: 0.001, burst: 1 };
  const ledger = openLedger({ principal: { ...UNBOUNDED, connects } });
  ledger.open(ada).close();
  assertThrows(() => ledger.open(ada), SmcpError, "maxConnectsPerPrincipal");
  for (let index = 0; index <= MAX_IDLE_QUOTAS; index++) {
    ledger.open({ ...ada, principal: `p${index}` }).close();
  }
  ledger.open(ada);
});

Deno.test("events are counted only where they are limited", () => {
  const unpaced = openLedger({});
  assertEquals(unpaced.open(ada).quotas.principal.takeRequest("e"), undefined);
  const ledger = openLedger({ principal: { ...UNBOUNDED, requests: { perSecond: 0.001, burst: 2 } } });
  const { quotas } = ledger.open(ada);
  const codes = [1, 2, 3].map(() => quotas.principal.takeRequest("e")?.code);
  assertEquals(codes, [undefined, undefined, 429]);
});
