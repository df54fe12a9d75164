import { assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { Load, OfficeLoads } from "../../../../src/server/relay/pending_requests.ts";

const limit = { requests: 3, bytes: 100 };

function refusalOf(load: Load): unknown[] {
  const { code, details } = assertThrows(() => load.requireCapacity("this office", limit), SmcpError);
  return [code, details];
}

Deno.test("a load at its limit refuses another request with 400 until one ends", () => {
  const load = new Load();
  for (let i = 0; i < 3; i++) {
    load.requireCapacity("this office", limit);
    load.add(1);
  }
  assertEquals(refusalOf(load), [400, { field: "event", limit: 3 }]);
  load.remove(1);
  load.requireCapacity("this office", limit);
});

Deno.test("a load at its limit of bytes refuses requests with 413, whatever the size of the last one", () => {
  const load = new Load();
  load.add(99);
  load.requireCapacity("this office", limit);
  load.add(500);
  assertEquals(refusalOf(load), [413, { size: 599, limit: 100 }]);
  load.remove(500);
  load.requireCapacity("this office", limit);
});

Deno.test("the loads of offices are separate, and an office without requests is removed", () => {
  const loads = new OfficeLoads();
  loads.add("lab", 10);
  loads.add("lab", 20);
  loads.add("den", 1);
  assertEquals([loads.get("lab").bytes, loads.get("den").requests, loads.size], [30, 1, 2]);
  loads.remove("lab", 10);
  loads.remove("lab", 20);
  loads.remove("nowhere", 1);
  assertEquals([loads.get("lab").bytes, loads.size], [0, 1]);
});
