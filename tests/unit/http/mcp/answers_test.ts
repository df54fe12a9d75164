import { assertEquals, assertMatch } from "@std/assert";
import { acceptedForms, inForm, whenDone } from "../../../../src/http/mcp/answers.ts";

const BOTH = { json: true, events: true };
const JSON_ALONE = { json: true, events: false };
const EVENTS_ALONE = { json: false, events: true };

const encoder = new TextEncoder();

function event(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function stream(...pieces: readonly string[]): Response {
  const headers = { "content-type": "text/event-stream" };
  return new Response(ReadableStream.from(pieces.map((piece) => encoder.encode(piece))), { headers });
}

async function answer(
  response: Response,
  forms: { json: boolean; events: boolean },
): Promise<{ type: string; text: string }> {
  const formed = whenDone(await inForm(response, forms), () => undefined);
  return { type: formed.headers.get("content-type") ?? "", text: await formed.text() };
}

const HUGE = "x".repeat(1_500_000);
const SMALL = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "hi" }] } };
const LARGE = {
  jsonrpc: "2.0",
  id: 1,
  result: {
    content: [{ type: "text", text: "a caption" }, { type: "image", mimeType: "image/png", data: HUGE }],
  },
};
const PROGRESS = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };

const ACCEPTS: readonly (readonly [string | undefined, ReturnType<typeof acceptedForms>])[] = [
  ["application/json, text/event-stream", BOTH],
  ["text/event-stream;q=0.5, application/json", BOTH],
  ["*/*", BOTH],
  [undefined, BOTH],
  ["", BOTH],
  ["application/json", JSON_ALONE],
  ["application/*", JSON_ALONE],
  ["APPLICATION/JSON; charset=utf-8", JSON_ALONE],
  ["text/event-stream", EVENTS_ALONE],
  ["text/*, application/json;q=0", EVENTS_ALONE],
  ["text/html", undefined],
];

Deno.test("acceptedForms() reads every Accept that allows one of the forms", () => {
  for (const [accept, wanted] of ACCEPTS) {
    const headers = new Headers(accept === undefined ? {} : { accept });
    assertEquals(acceptedForms(new Request("http://a/mcp", { method: "POST", headers })), wanted, accept);
  }
});

Deno.test("acceptedForms() answers a request for a stream by a stream", () => {
  const formsOf = (method: string, headers: HeadersInit) =>
    acceptedForms(new Request("http://a/mcp", { method, headers }));
  assertEquals(formsOf("GET", { accept: "*/*" }), EVENTS_ALONE);
  assertEquals(formsOf("GET", { accept: "application/json" }), undefined);
  assertEquals(
    formsOf("POST", { accept: "application/json", "mcp-method": "subscriptions/listen" }),
    EVENTS_ALONE,
  );
});

Deno.test("inForm() leaves short events as they are, and makes the answer JSON where a client takes no events", async () => {
  const pieces = [event(PROGRESS), ": keepalive\n\n", event(SMALL)];
  assertEquals(await answer(stream(...pieces), BOTH), { type: "text/event-stream", text: pieces.join("") });
  assertEquals(await answer(stream(...pieces), JSON_ALONE), {
    type: "application/json",
    text: JSON.stringify(SMALL),
  });
});

Deno.test("inForm() makes JSON an event for a client that takes events alone", async () => {
  assertEquals(await answer(Response.json(SMALL), EVENTS_ALONE), {
    type: "text/event-stream",
    text: event(SMALL),
  });
});

/** Answers that come when the stream has begun, and what is left of them. */
const AFTER_PROGRESS: Readonly<Record<string, readonly [message: object, wanted: RegExp]>> = {
  "a picture": [
    LARGE,
    /"text":"a caption"\},\{"type":"text","text":"\[image \(image\/png\) of 1500\d+ bytes: too long/,
  ],
  "a text": [
    { ...SMALL, result: { content: [{ type: "text", text: HUGE }] } },
    /x{20000}\\n\\n\[1480000 more characters/,
  ],
  "a structured result": [
    { ...SMALL, result: { content: [], structuredContent: { HUGE } } },
    /The tool ran\. Its result is too long.*"isError":true/,
  ],
  "contents of a resource": [
    { ...SMALL, result: { contents: [{ uri: "a:b", blob: HUGE }] } },
    /"code":-32603/,
  ],
};

for (const [name, [message, wanted]] of Object.entries(AFTER_PROGRESS)) {
  Deno.test(`inForm() shortens what is too long for an event after progress: ${name}`, async () => {
    for (const forms of [BOTH, EVENTS_ALONE]) {
      const { type, text } = await answer(stream(event(PROGRESS), event(message)), forms);
      assertEquals([type, text.startsWith(event(PROGRESS)), text.length < 900_000], [
        "text/event-stream",
        true,
        true,
      ]);
      assertMatch(text, wanted);
    }
  });
}

Deno.test("inForm() leaves out a notification that is too long", async () => {
  const long = { ...PROGRESS, params: { message: HUGE } };
  const { text } = await answer(stream(event(PROGRESS), event(long), event(SMALL)), BOTH);
  assertEquals(text, event(PROGRESS) + event(SMALL));
});
