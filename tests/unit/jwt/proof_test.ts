import { assertEquals } from "@std/assert";
import { machineAudience, machineIdOf, makeMachineKey, readMachineKey } from "../../../src/jwt/proof.ts";

Deno.test("machineIdOf() is the beginning of the thumbprint of RFC 7638", () => {
  // The key of RFC 7517, appendix A.1; its thumbprint, as other programs compute it, is cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s.
  const key = {
    kty: "EC",
    crv: "P-256",
    x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
  } as const;
  assertEquals(machineIdOf({ ...key, ...{ use: "sig" } }), "727f88fd634c0a57");
});

Deno.test("readMachineKey() takes public keys of P-256 alone, without what else they have", async () => {
  const { d, ...key } = await makeMachineKey();
  assertEquals(readMachineKey({ ...key, d, kid: "x" }), key);
  for (const wrong of [{ crv: "P-384" }, { kty: "OKP" }, { x: key.y }, { y: undefined }]) {
    assertEquals(readMachineKey({ ...key, ...wrong }), undefined);
  }
});

Deno.test("machineAudience() is the same for a URL with and without its path's end, and for ws", () => {
  const audience = "https://hub.example.com/a2c";
  for (const url of [audience, `${audience}/`, "wss://hub.example.com:443/a2c"]) {
    assertEquals(machineAudience(url), audience);
  }
});
