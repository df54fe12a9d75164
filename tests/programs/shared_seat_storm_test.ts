/** Eight windows and commands of one user, which are killed and closed at random while they call. */
import { assert, assertEquals } from "@std/assert";
import { Random } from "../fixtures/random.ts";
import { sized } from "../fixtures/test_size.ts";
import { WindowStorm } from "../integration/_window_storm.ts";

Deno.test({
  name: "eight windows that are killed at random: no call is answered twice, and none is lost without a word",
  // Sockets have no files on Windows.
  ignore: Deno.build.os === "windows",
  async fn() {
    const durationMs = sized({ reduced: 20_000, full: 180_000 });
    const report = await WindowStorm.run({ windows: 8, durationMs, random: new Random(7) });
    assertEquals(report.breaches, []);
    assert((report.counts["calls answered"] ?? 0) > 100, JSON.stringify(report.counts));
    assert((report.counts["disturbances"] ?? 0) > 5, JSON.stringify(report.counts));
  },
});
