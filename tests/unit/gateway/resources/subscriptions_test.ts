import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import { ResourceSubscriptions } from "../../../../src/gateway/resources/subscriptions.ts";
import { silentLogger } from "../../../../src/log.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { FakeOffice } from "../_fake_office.ts";

const URI = "window://notes/a";
const ADDRESS = { computer: "laptop", mcpServer: undefined, uri: URI };

async function openScene() {
  const requests: string[] = [];
  const answers = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
  let asked = 0;
  const office = new FakeOffice(["laptop"], {
    subscribeResource: async () => {
      requests.push("subscribe");
      await answers[asked++]?.promise;
      return {} as never;
    },
    unsubscribeResource: () => {
      requests.push("unsubscribe");
      return Promise.resolve({} as never);
    },
  });
  const view = new OfficeView();
  await view.follow(office);
  const subscriptions = new ResourceSubscriptions(view, { logger: silentLogger, onUpdated: () => undefined });
  const answer = (index: number) => answers[index]?.resolve();
  return { office, requests, subscriptions, answer, [Symbol.dispose]: () => view[Symbol.dispose]() };
}

Deno.test("a second client that subscribes waits until the subscription of the first stands", async () => {
  using scene = await openScene();
  const order: string[] = [];
  const following = [1, 2].map((client) =>
    scene.subscriptions.follow(URI, ADDRESS).then(() => order.push(`client ${client}`))
  );
  await setImmediate();
  order.push("answer");
  scene.answer(0);
  await Promise.all(following);
  assertEquals(order, ["answer", "client 1", "client 2"]);
  assertEquals(scene.requests, ["subscribe"]);
});

Deno.test("a subscription that ends while it is renewed ends after it stands", async () => {
  using scene = await openScene();
  scene.answer(0);
  const release = await scene.subscriptions.follow(URI, ADDRESS);
  scene.office.emit("reconnected");
  await setImmediate();
  release();
  await setImmediate();
  assertEquals(scene.requests, ["subscribe", "subscribe"]);
  scene.answer(1);
  await setImmediate();
  assertEquals(scene.requests, ["subscribe", "subscribe", "unsubscribe"]);
});

Deno.test("a resource that is followed again at once keeps its subscription", async () => {
  using scene = await openScene();
  scene.answer(0);
  scene.answer(1);
  (await scene.subscriptions.follow(URI, ADDRESS))();
  await scene.subscriptions.follow(URI, ADDRESS);
  await setImmediate();
  assertEquals(scene.requests, ["subscribe", "subscribe"]);
});

Deno.test("a client does not wait for a Computer that never answers", async () => {
  using scene = await openScene();
  using timers = new FakeTimers();
  const following = scene.subscriptions.follow(URI, ADDRESS);
  await setImmediate();
  timers.advance(60_000);
  (await following)();
  assertEquals(scene.requests, ["subscribe"]);
});
