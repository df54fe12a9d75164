import { assertEquals, assertStringIncludes } from "@std/assert";
import { readQuestion } from "../../../../src/computer/questions/question.ts";

function form(properties: Record<string, unknown>, message = "Well?") {
  return readQuestion({ mode: "form", message, schema: { type: "object", properties } });
}

function url(address: string) {
  return readQuestion({ mode: "url", message: "Well?", url: address, elicitationId: undefined });
}

// proves: question-secret
Deno.test("a form with a field that looks like a secret is refused, with the name of the field", () => {
  const text = { type: "string" };
  const secrets: Record<string, unknown> = {
    password: text,
    userPassword: text,
    API_KEY: text,
    "access-token": text,
    clientSecret: text,
    pin: { type: "integer" },
    otp: text,
    field: { ...text, title: "Your API key" },
    hidden: { ...text, format: "password" },
    once: { ...text, writeOnly: true },
    card: { ...text, title: "Card number" },
    number: { type: "integer", title: "Your password" },
    hiddenNumber: { type: "number", format: "password" },
    twoWords: { ...text, title: "Pass word" },
    wide: { ...text, title: "ｐａｓｓｗｏｒｄ" },
    invisible: { ...text, title: "pass\u200bword" },
    code: { ...text, title: "One-time code" },
  };
  for (const [name, property] of Object.entries(secrets)) {
    const { refusal = "" } = form({ people: { type: "integer" }, [name]: property });
    assertStringIncludes(refusal, `"${name}"`);
    assertStringIncludes(refusal, "secret");
  }
});

Deno.test("fields that only sound like a secret are asked for", () => {
  const text = { type: "string" };
  const { question } = form({
    author: text,
    keyword: text,
    sessionName: text,
    shipping: text,
    maxTokens: { type: "integer" },
    rotatePassword: { type: "boolean" },
    tokenKind: { type: "string", enum: ["short", "long"] },
  });
  assertEquals(question?.mode, "form");
});

// proves: question-form-schema, question-bounds
Deno.test("a form that is not one of MCP, or is too large, is refused", () => {
  assertStringIncludes(form({ home: { type: "object" } }).refusal ?? "", '"home"');
  assertStringIncludes(
    form({ name: { type: "string", description: "x".repeat(70_000) } }).refusal ?? "",
    "large",
  );
  assertStringIncludes(form({}, "x".repeat(20_000)).refusal ?? "", "long");
});

// proves: question-url
Deno.test("a URL is one of the web without a user name, in a form in which all of it can be seen", () => {
  for (
    const address of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "no url",
      "https://bank.example@evil.example/",
    ]
  ) {
    assertEquals(url(address).question, undefined, address);
  }
  assertStringIncludes(url(`https://a.example/${"x".repeat(9_000)}`).refusal ?? "", "long");
  const { question } = url("https://аpple.example/\u202egnp");
  assertEquals(question?.mode === "url" && question.url, "https://xn--pple-43d.example/%E2%80%AEgnp");
});
