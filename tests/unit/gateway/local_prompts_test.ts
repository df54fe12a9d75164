import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { OfficeView } from "../../../src/agent/toolkit/office_view.ts";
import { makeLocalPrompts } from "../../../src/gateway/local_prompts.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { FakeOffice } from "./_fake_office.ts";

Deno.test("suggestions of documents ask some Computers at a time, and wait three seconds for each", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  const names = Array.from({ length: 40 }, (_, index) => `c${String(index).padStart(2, "0")}`);
  let asked = 0;
  const office = new FakeOffice(names, {
    getFinder: () => {
      asked++;
      if (asked <= 20) return new Promise(() => undefined);
      const documents = [{ uri: `dpe://a/${asked}`, title: "Report" }];
      return Promise.resolve({ documents, totalCount: 1 } as never);
    },
  });
  await view.follow(office);
  const prompt = makeLocalPrompts({ view }).find(({ definition }) => definition.name === "attach_document");
  const suggested = prompt?.complete("uri", "repo");
  await setImmediate();
  assert(asked <= 16, `${asked} at the same time`);
  for (let rounds = 0; rounds < 3; rounds++) {
    timers.advance(3_000);
    await setImmediate();
  }
  assertEquals((await suggested)?.length, 20);
});
