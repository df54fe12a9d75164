/** Attacker: a client of a gateway. It takes all subscriptions, or ends those of others */
import { assert, assertEquals } from "@std/assert";
import { answersOf, AttackedGateway, GOOD_URI } from "./_attacked_gateway.ts";

const NOTHING_LISTED = answersOf([], []);

Deno.test("who ends a subscription by another URI of a resource ends none of another client", async () => {
  await using gateway = await AttackedGateway.open(NOTHING_LISTED);
  const attacker = await gateway.newClient();
  assertEquals(await gateway.ask("resources/subscribe", { uri: GOOD_URI }), {});
  for (const uri of [`a2c://good/${GOOD_URI}`, `a2c://g%6fod/${GOOD_URI}`]) {
    assertEquals(await attacker.ask("resources/subscribe", { uri }), {});
    assertEquals(await attacker.ask("resources/unsubscribe", { uri }), {});
  }
  // What the gateway sends comes in order.
  await attacker.ask("resources/read", { uri: GOOD_URI });
  const events = gateway.good.requests.map(({ event }) => event);
  assertEquals(events.filter((event) => event.endsWith("subscribe_resource")), ["client:subscribe_resource"]);
});

Deno.test("clients that subscribe to all they can leave some subscriptions for the others", async () => {
  await using gateway = await AttackedGateway.open(NOTHING_LISTED);
  for (let count = 0; count < 3; count++) {
    const greedy = await gateway.newClient();
    let refusal: string | undefined;
    for (let index = 0; index < 1_100 && refusal === undefined; index++) {
      const uri = `dpe://com.example.good/${count}-${index}`;
      refusal = (await greedy.ask("resources/subscribe", { uri })).message;
    }
    assert(refusal?.includes("subscriptions already"), refusal);
  }
  for (let index = 0; index < 16; index++) {
    const uri = `dpe://com.example.good/mine-${index}`;
    assertEquals(await gateway.ask("resources/subscribe", { uri }), {});
  }
});

Deno.test("who listens to a hundred thousand resources follows as many as one client may", async () => {
  await using gateway = await AttackedGateway.open(NOTHING_LISTED);
  const uris = Array.from({ length: 100_000 }, (_, index) => `dpe://com.example.good/${index % 50_000}`);
  const end = await gateway.gateway.followResources(uris);
  const subscribed = () => gateway.good.requests.filter(({ event }) => event === "client:subscribe_resource");
  assertEquals(subscribed().length, 500);
  end();
  assertEquals(await gateway.ask("resources/subscribe", { uri: GOOD_URI }), {});
});
