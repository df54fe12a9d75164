import { assertEquals } from "@std/assert";
import { AgentTexts } from "../../../../src/computer/secrets/agent_texts.ts";
import { Redactor } from "../../../../src/computer/secrets/redaction.ts";
import { encodings } from "../../../../src/computer/secrets/redaction.ts";
import { rateOf, TokenBucket } from "../../../../src/async/token_bucket.ts";
import { type Logger, silentLogger } from "../../../../src/log.ts";
import { LogBook } from "../../../fixtures/log_book.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

const SECRET = "Pa55-word/No1";
const base64 = new TextEncoder().encode(SECRET).toBase64();

function textsFor(
  request: unknown,
  maskings = new TokenBucket(rateOf(1_000, 60_000)),
  log: Logger = silentLogger,
): AgentTexts {
  const redactor = new Redactor();
  redactor.learn("s", [SECRET, ...encodings(SECRET), "493817", "production", "0ther-t0ken"], {
    guarded: [SECRET, ...encodings(SECRET), "493817", "0ther-t0ken"],
    paths: ["/home/ada/k8s-tools"],
  });
  return new AgentTexts(request, { redactor, maskings, log });
}

const wide = (text: string) =>
  [...text].map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)).join("");

// What an MCP server may make of a guess, and what it then repeats.
for (
  const [what, request, answer] of [
    ["as it is", { uri: `window://h/${SECRET}/x` }, `No "${SECRET}"`],
    ["in other letters", { q: SECRET.toLowerCase() }, `No "${SECRET}"`],
    ["percent-encoded", { uri: `window://h/${encodeURIComponent(SECRET)}` }, `No "${SECRET}"`],
    ["percent-encoded twice", { uri: encodeURIComponent(encodeURIComponent(SECRET)) }, `No ${SECRET}`],
    ["each character percent-encoded", { q: "%50%61%35%35-word%2fNo1" }, `No ${SECRET}`],
    ["as an escape of JSON", { json: "\\u0050a55-word/No1" }, `No ${SECRET}`],
    ["in base64", { q: base64 }, `No ${SECRET}`],
    ["in base64 in the answer", { q: SECRET }, `No ${base64}`],
    ["in hexadecimal", { q: new TextEncoder().encode(SECRET).toHex() }, `No ${SECRET}`],
    ["in two arguments", { a: "Pa55-wo", b: "rd/No1" }, `No ${SECRET}`],
    ["in arguments of different depth", { a: ["Pa55-wo"], b: { c: "rd/No1" } }, `No ${SECRET}`],
    ["with blanks in it", { q: " Pa55 -word / No1 " }, `No ${SECRET}`],
    ["as the name of a member", { [SECRET]: 1 }, `Unknown member ${SECRET}`],
    ["in base64, and is short", { q: "NDkzODE3" }, "Wrong PIN 493817"],
    ["in base64 of a URL, and is short", { q: ["x", "NDkzODE3==", "e"] }, "Wrong PIN 493817"],
    ["in hexadecimal, and is short", { uri: "x://h/343933383137" }, "Wrong PIN 493817"],
    ["as a number", { pin: 493817 }, "Wrong PIN 493817"],
    ["in base64 behind other words", { q: btoa(`${"x".repeat(60)}/493816/493817/x`) }, "Wrong PIN 493817"],
    ["in base64 as a part of a path", { q: `eA/${btoa("493817")}/x` }, "No 493817"],
    ["in wide letters", { url: `http://${wide(SECRET)}.example/` }, `No ${SECRET}`],
    ["in wide letters, percent-encoded", { url: encodeURIComponent(wide(SECRET)) }, `No ${SECRET}`],
    ["in round letters", { q: "Ⓟⓐ⁵₅-𝐰𝕠𝓇𝖽/№1" }, `No ${SECRET}`],
    ["with soft hyphens and joiners", { q: "Pa\u00ad55-wo\u200brd/\u2060No1" }, `No ${SECRET}`],
    ["percent-encoded five times", { q: "%252525252550a55-word/No1" }, `No ${SECRET}`],
    ["as an escape of JSON in a URL", { q: "%5Cu0050a55-word/No1" }, `No ${SECRET}`],
    ["as an escape of a URL in JSON", { q: "\\u002550a55-word/No1" }, `No ${SECRET}`],
    ["as a hexadecimal number", { id: "0x788f9" }, "Wrong PIN 493817"],
    ["as a binary and an octal number", { id: ["0b1111000100011111001", "0o1704371"] }, "Wrong PIN 493817"],
    ["as a number with an exponent", { id: "4.93817e5" }, "Wrong PIN 493817"],
    ["as a number with leading zeros", { id: "000493817.0" }, "Wrong PIN 493817"],
    ["with separators of thousands", { id: "493,817" }, "Wrong PIN 493817"],
    ["in a longer number", { pins: "493816493817493818" }, "Wrong: 493817"],
    ["that is the name of a mode", { mode: "production" }, "No mode production"],
  ] as const
) {
  Deno.test(`a guess that stands in the request ${what} is not masked, so that no answer depends on it`, () => {
    assertEquals(textsFor(request).mask(answer), answer);
    assertEquals(textsFor({ q: "x" }).mask(answer) === answer, false);
  });
}

Deno.test("a secret that the request does not contain is masked, whatever else it contains", () => {
  for (
    const request of [{}, { q: "Pa55-word" }, { q: "word/No1" }, { q: "493816" }, { a: "Pa55", b: "No1" }]
  ) {
    const texts = textsFor(request);
    assertEquals(texts.mask(`${SECRET} 493817 0ther-t0ken`), "*** *** ***");
    assertEquals(texts.isSuspicious, false);
  }
  const texts = textsFor({ q: "493817" });
  assertEquals(texts.mask(`${SECRET} 493817`), "*** 493817");
  assertEquals(texts.isSuspicious, true);
});

Deno.test("a request is suspicious when it contains a secret, but not for a mode, a folder or a part of a secret", () => {
  const isSuspicious = (request: unknown) => textsFor(request).isSuspicious;
  for (
    const request of [SECRET, SECRET.toUpperCase(), { a: [{ b: base64 }] }, `x${encodeURIComponent(SECRET)}`]
  ) {
    assertEquals(isSuspicious(request), true, JSON.stringify(request));
  }
  for (const request of ["production", "/home/ada/k8s-tools/x", "Pa55-word", "", null, 5]) {
    assertEquals(isSuspicious(request), false, JSON.stringify(request));
  }
});

Deno.test("an Agent does not see a path of the configuration that it has not sent", () => {
  const text = "ENOENT: /home/ada/k8s-tools/server.mjs";
  assertEquals(textsFor({}).mask(text), "ENOENT: ***/server.mjs");
  assertEquals(textsFor({ path: "/home/ada/k8s-tools/server.mjs" }).mask(text), text);
});

// proves: guide-error-no-secrets
Deno.test("addresses of the own machine and network are masked, with and without a port", () => {
  const hidden = [
    ...[
      "127.0.0.1",
      "10.0.0.5",
      "172.16.0.1",
      "172.31.255.254",
      "192.168.1.7",
      "169.254.169.254",
      "100.64.0.1",
    ],
    ...["100.127.255.254", "0.0.0.0", "10.255.255.255"],
    ...["::1", "fe80::1", "fe80::1%eth0", "fd12:3456:789a::1", "fc00::1", "::ffff:10.0.0.5", "::ffff:a00:5"],
    ...["0:0:0:0:0:0:0:1", "FE80::ABCD", "64:ff9b::10.0.0.5", "::ffff:192.168.1.7"],
  ];
  for (const address of hidden) {
    const isV6 = address.includes(":");
    const withPort = isV6 ? [`[${address}]:5432`, `${address}:5432`] : [`${address}:5432`];
    for (const form of [address, ...withPort, ...(isV6 ? [`[${address}]`] : [])]) {
      for (
        const [before, after] of [["connect ", ""], ["at http://", "/mcp?x=1"], ["(", ")."], [
          "host=",
          ": refused",
        ]]
      ) {
        if (before === "at http://" && isV6 && !form.startsWith("[")) continue;
        assertEquals(textsFor({}).mask(before + form + after), `${before}***${after}`, form);
      }
    }
  }
  for (
    const [text, masked] of [
      ["http://u:p@10.0.0.5:80/x", "http://u:p@***/x"],
      ["http%3A%2F%2F10.0.0.5%3A5432%2Fdb", "http%3A%2F%2F***%2Fdb"],
      ["a%2010.0.0.5", "a%20***"],
      ["连接10.0.0.5失败", "连接***失败"],
      ["ECONNREFUSED ::1:5432 and 127.0.0.1:5432", "ECONNREFUSED *** and ***"],
      ["localhost:1234", "***"],
      ["http://localhost/x", "http://***/x"],
      ["http://LOCALHOST:8080", "http://***"],
    ] as const
  ) assertEquals(textsFor({}).mask(text), masked);
});

Deno.test("public addresses, versions, times and names stay", () => {
  for (
    const text of [
      "1.2.3.4",
      "8.8.8.8:53",
      "203.0.113.7",
      "172.32.0.1",
      "192.169.0.1",
      "100.128.0.1",
      "11.0.0.1",
      "[2001:db9::1]:443",
      "2606:4700::1111",
      "v10.0.0.5",
      "10.0.0.5.6",
      "10.0.0",
      "10.0.0.256",
      "127.0.6533.72",
      "12:30:45",
      "2026-11-28T12:30:45.123Z",
      "fd:12:34:56:78:9a",
      "std::vector, Foo::Bar, ::",
      "localhost",
      "see a::b::c(d)",
      "key: value, a:b:c",
    ]
  ) assertEquals(textsFor({}).mask(text), text);
});

Deno.test("an address that stands in the request is not masked", () => {
  const texts = textsFor({
    url: "http://10.0.0.5:5432/",
    other: "http%3A%2F%2F192.168.1.7%2F",
    port: "[::1]:80",
  });
  for (const text of ["connect 10.0.0.5:5432", "192.168.1.7", "at http://[::1]:80/"]) {
    assertEquals(texts.mask(text), text);
  }
  assertEquals(texts.mask("10.0.0.55, 10.0.0.6, ::2, 192.168.1.77"), "***, ***, ***, ***");
});

Deno.test("a text repeats no more than some 200 characters of a request, also in details", () => {
  const words = Array.from({ length: 5_000 }, (_, i) => `${i * 7919 % 10_007}`).join("/");
  for (
    const [request, repeated] of [[words, words], [encodeURIComponent(words).slice(0, 30_000), words], [[
      words,
    ], words]]
  ) {
    const texts = textsFor({ uri: request });
    const text = texts.maskFailure(`Cannot read "${repeated}": no such file`);
    if (typeof request === "string" && request !== words) continue;
    assertEquals(text.length < 330, true, `${text.length} characters`);
    const error = texts.maskError(
      new SmcpError(404, "No", { details: { uri: words, deep: [{ x: words }] } }),
    );
    const { uri, deep } = (error as SmcpError).details as { uri: string; deep: [{ x: string }] };
    assertEquals([uri.length < 330, deep[0].x.length < 330], [true, true]);
  }
  const own = `The server says: ${"a long explanation of what is wrong ".repeat(100)}`;
  assertEquals(textsFor({ uri: words }).maskFailure(own), own);
  const short = { uri: "x".repeat(200) };
  assertEquals(textsFor(short).maskFailure(`Cannot read "${short.uri}"`), `Cannot read "${short.uri}"`);
});

Deno.test("a long text is cut behind its masks, so that no part of a secret remains", () => {
  const cut = textsFor({}).mask(`${"x".repeat(16_380)}${SECRET}`);
  assertEquals([cut.endsWith("***…"), cut.includes("Pa55")], [false, false]);
});

Deno.test("a request that is too long to be searched gets no reason, whatever it guesses", () => {
  const long = "x".repeat(131_072);
  for (
    const request of [
      ...[`${long}/`, [long, "x"], { [`${long}x`]: 1 }, Array(140_000).fill(7), "ﷺ".repeat(8_000)],
      Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${i * 7919}`, i * 7919])),
    ]
  ) {
    for (const guess of ["x", SECRET]) {
      const texts = textsFor([request, guess]);
      const error = texts.maskError(new SmcpError(404, `No ${SECRET}`, { details: { q: [SECRET] } }));
      const { code, message, details } = error as SmcpError;
      assertEquals([code, details, message], [404, undefined, texts.mask(SECRET)]);
      assertEquals([message.includes("131072 characters"), message.includes("***")], [true, false]);
      assertEquals(texts.isSuspicious, false);
    }
  }
});

Deno.test("after too many answers with a mask, others get no reason, and the owner reads of each with a mask", () => {
  const log = new LogBook();
  const maskings = new TokenBucket(rateOf(3, 60_000), () => 0);
  const answer = (request: unknown, error: SmcpError) => {
    const { code, message, details } = textsFor(request, maskings, log).maskError(error) as SmcpError;
    return [code, message, details];
  };
  const masked = new SmcpError(500, `No ${SECRET}`, { details: { [SECRET]: `${SECRET} and 10.0.0.1` } });
  // Neither what the request says itself nor an address counts.
  for (let i = 0; i < 5; i++) answer({ q: SECRET }, new SmcpError(500, `No ${SECRET} at 10.0.0.1`));
  for (let i = 0; i < 3; i++) assertEquals(answer({}, masked), [500, "No ***", { "***": "*** and ***" }]);
  const withheld = answer({ q: "x" }, masked);
  assertEquals(withheld[2], undefined);
  assertEquals(answer({ q: SECRET }, new SmcpError(500, `No ${SECRET}`)), withheld);
  assertEquals(answer({ q: "y" }, new SmcpError(500, "No y")), withheld);
  const withheldMs = log.lines.map(({ level, fields }) => [level, fields?.["errors_withheld_ms"] === 0]);
  assertEquals(withheldMs, [["warn", true], ["warn", true], ["warn", false]]);
});
