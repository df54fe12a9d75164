import { assertEquals, assertMatch } from "@std/assert";
import { readPasted } from "../../../../../src/cli/computer/auth/pasted.ts";

const redirectUri = "http://127.0.0.1:49152/callback";
const awaited = { url: "https://auth.example.com/authorize?client_id=x&state=s1", redirectUri };
const read = (text: string) => readPasted(text, awaited);

Deno.test("the address that the browser shows is accepted, however it was copied", () => {
  const whole = `${redirectUri}?code=c-123&state=s1&iss=https%3A%2F%2Fauth.example.com`;
  for (
    const text of [
      whole,
      `  ${whole}\n`,
      `"${whole}"`,
      `'${whole}'`,
      `<${whole}>`,
      whole.replace("http://", ""),
      whole.replace("127.0.0.1", "localhost"),
      whole.replace(redirectUri, ""),
      whole.replace(`${redirectUri}?`, ""),
    ]
  ) assertEquals(read(text), { redirect: whole }, text);
});

Deno.test("the address of a refusal is accepted as well, since it ends the sign-in", () => {
  const refusal = `${redirectUri}?error=access_denied&state=s1`;
  assertEquals(read(refusal), { redirect: refusal });
});

Deno.test("the code alone is accepted", () => {
  for (const code of ["SplxlOBeZQQYbYS6WxSbIA", "4/0AeanS0b-x_y", "123456", "eyJhbGciOi.J9.x", "abc-def"]) {
    assertEquals(read(code), { redirect: code });
  }
  assertEquals(read("4%2F0AeanS0b%3D%3D"), { redirect: "4/0AeanS0b==" });
});

Deno.test("a word, a sentence and a broken address are refused with what to paste, without repeating them", () => {
  for (
    const text of [
      "",
      "   ",
      "yes",
      "quit",
      "help!",
      "abc",
      "what now?",
      "a code with spaces",
      "見つからない",
      "x\u0007yz123",
    ]
  ) {
    const { refusal = "" } = read(text);
    assertMatch(refusal, /paste the address that the browser shows/, text);
    if (text.trim() !== "") assertEquals(refusal.includes(text.trim()), false, text);
  }
  assertMatch(read("x".repeat(20_000)).refusal ?? "", /too long/);
});

Deno.test("another address is refused with what is wrong with it", () => {
  assertMatch(read(awaited.url).refusal ?? "", /sign-in page; open it/);
  assertMatch(
    read("https://example.com/?code=123456&state=s1").refusal ?? "",
    /not the address that the browser/,
  );
  assertMatch(
    read("http://127.0.0.1:1/callback?code=123456").refusal ?? "",
    /not the address that the browser/,
  );
  assertMatch(
    read("http://127.0.0.1:49152/other?code=123456").refusal ?? "",
    /not the address that the browser/,
  );
  assertMatch(read(redirectUri).refusal ?? "", /no code in it/);
  assertMatch(read(`${redirectUri}?state=s1`).refusal ?? "", /no code in it/);
  assertMatch(read("http://").refusal ?? "", /not a whole address/);
});

Deno.test("where a code does not say who it is from, the whole address is asked for", () => {
  const readWhole = (text: string) => readPasted(text, { ...awaited, needsAddress: true });
  const whole = `${redirectUri}?code=c-123456&state=s1&iss=https%3A%2F%2Fauth.example.com`;
  for (const text of [whole, whole.replace("http://", ""), whole.replace("127.0.0.1", "[::1]")]) {
    assertEquals(readWhole(text), { redirect: whole }, text);
  }
  for (const text of ["SplxlOBeZQQYbYS6WxSbIA", whole.replace(redirectUri, ""), "code=c-123456&state=s1"]) {
    assertMatch(readWhole(text).refusal ?? "", /does not say .*paste .*all of it.*"issuer"/, text);
  }
  assertMatch(readWhole("yes").refusal ?? "", /neither .*all of it/);
  assertEquals(readWhole("?error=access_denied&state=s1"), {
    redirect: `${redirectUri}?error=access_denied&state=s1`,
  });
});
