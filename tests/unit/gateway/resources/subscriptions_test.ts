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
  const signals: (AbortSignal | undefined)[] = [];
  const answers = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
  let asked = 0;
  const office = new FakeOffice(["laptop"], {
    subscribeResource: async (_uri, { signal } = {}) => {
      requests.push("subscribe");
      signals.push(signal);
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
  const told: string[] = [];
  const subscriptions = new ResourceSubscriptions(view, {
    logger: silentLogger,
    onUpdated: (uri) => void told.push(uri),
  });
  const answer = (index: number) => answers[index]?.resolve();
  const lose = () => {
    office.isConnected = false;
    office.emit("disconnected");
  };
  const comeBack = async (members: readonly string[]) => {
    office.isConnected = true;
    office.members = () => Promise.resolve(members);
    office.emit("reconnected");
    await setImmediate();
  };
  return {
    office,
    requests,
    signals,
    told,
    subscriptions,
    answer,
    lose,
    comeBack,
    [Symbol.dispose]: () => view[Symbol.dispose](),
  };
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
  scene.lose();
  await scene.comeBack(["laptop"]);
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

Deno.test("a resource of a Computer that comes back after the Server is followed again", async () => {
  using scene = await openScene();
  scene.answer(0);
  scene.answer(1);
  await scene.subscriptions.follow(URI, ADDRESS);
  scene.lose();
  await scene.comeBack(["desk"]);
  assertEquals([scene.requests, scene.told], [["subscribe"], []]);
  scene.office.emit("enterOffice", { role: "computer", name: "laptop" });
  await setImmediate();
  assertEquals([scene.requests, scene.told], [["subscribe", "subscribe"], [URI]]);
});

Deno.test("a resource is followed once when connection and Computer come back together", async () => {
  using scene = await openScene();
  scene.answer(0);
  scene.answer(1);
  await scene.subscriptions.follow(URI, ADDRESS);
  scene.office.emit("leaveOffice", { role: "computer", name: "laptop" });
  scene.lose();
  await scene.comeBack(["laptop"]);
  assertEquals([scene.requests, scene.told], [["subscribe", "subscribe"], [URI]]);
});

Deno.test("nothing is asked of the office once all subscriptions have ended", async () => {
  using scene = await openScene();
  scene.answer(0);
  const release = await scene.subscriptions.follow(URI, ADDRESS);
  void scene.subscriptions.follow("window://notes/b", { ...ADDRESS, uri: "window://notes/b" });
  scene.subscriptions.close();
  scene.answer(1);
  release();
  await setImmediate();
  assertEquals(scene.requests, ["subscribe", "subscribe"]);
  // A request that is not answered yet is given up.
  assertEquals(scene.signals.map((signal) => signal?.aborted), [true, true]);
});
