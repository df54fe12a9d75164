import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { GatewayCore } from "../../../src/gateway/gateway_core.ts";
import type { GatewayChange } from "../../../src/gateway/gateway_options.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { FakeOffice } from "./_fake_office.ts";

const URI = "a2c://laptop/window://notes/a";

function openScene() {
  const requests: string[] = [];
  const office = new FakeOffice([], {
    subscribeResource: (uri) => {
      requests.push(`subscribe ${uri}`);
      return Promise.resolve({} as never);
    },
    unsubscribeResource: (uri) => {
      requests.push(`unsubscribe ${uri}`);
      return Promise.resolve({} as never);
    },
  });
  const gateway = new GatewayCore(office, {});
  const told: GatewayChange[] = [];
  gateway.onChange((change) => change.kind === "resource" && told.push(change));
  const enter = async () => {
    office.emit("enterOffice", { role: "computer", name: "laptop" });
    await setImmediate();
  };
  return { requests, gateway, told, enter, [Symbol.asyncDispose]: () => gateway.close() };
}

Deno.test("a client listens to a resource of a Computer that enters later", async () => {
  await using scene = openScene();
  const end = await scene.gateway.followResources([URI]);
  assertEquals(scene.requests, []);
  await scene.enter();
  assertEquals(scene.requests, ["subscribe window://notes/a"]);
  // What is there now is news for the client.
  assertEquals(scene.told, [{ kind: "resource", uri: URI, computer: "laptop" }]);
  end();
  await setImmediate();
  assertEquals(scene.requests, ["subscribe window://notes/a", "unsubscribe window://notes/a"]);
});

Deno.test("a client that listens no more follows nothing that comes later", async () => {
  await using scene = openScene();
  const end = await scene.gateway.followResources([URI]);
  end();
  await scene.enter();
  assertEquals(scene.requests, []);
});

Deno.test("a Computer that changes all the time is not listed all the time for a resource that it does not have", async () => {
  let listed = 0;
  const office = new FakeOffice(["laptop"], {
    getMcpServers: () => {
      listed++;
      return Promise.resolve([]);
    },
    getResourceTemplates: () => Promise.resolve({ resourceTemplates: [] }),
  });
  using timers = new FakeTimers();
  await using gateway = new GatewayCore(office, {});
  const end = await gateway.followResources(["odd:a", "odd:b"]);
  assertEquals(listed, 1);
  for (let changes = 0; changes < 50; changes++) {
    office.emit("updateDesktop", { computer: "laptop" });
    await setImmediate();
  }
  assertEquals(listed, 2);
  timers.advance(1_000);
  await setImmediate();
  assertEquals(listed, 3);
  end();
});
