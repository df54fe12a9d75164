import { assert, assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { consentPage, problemPage, provePage } from "../../../src/hub/page.ts";

const CLIENT = {
  name: "Claude",
  documentHost: undefined,
  returnsTo: "claude.example",
  redirectUri: "https://claude.example/callback",
};
const PROVE = { client: CLIENT, office: "lab", problem: undefined, canSignIn: false };

Deno.test("a page may load nothing, run nothing and be framed by nobody, and its form leads to the hub and the client", () => {
  const { headers } = provePage(PROVE);
  const policy = headers["content-security-policy"] ?? "";
  assertStringIncludes(policy, "default-src 'none'");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assertStringIncludes(policy, "form-action 'self' https://claude.example;");
  assertNotMatch(policy, /script|unsafe/);
});

Deno.test("a form leads to apps and to addresses of IPv6 as well", () => {
  const policyFor = (redirectUri: string) =>
    provePage({ ...PROVE, client: { ...CLIENT, redirectUri } }).headers["content-security-policy"] ?? "";
  assertStringIncludes(policyFor("cursor://x/y"), "form-action 'self' cursor:;");
  assertStringIncludes(policyFor("http://[::1]:5/x"), "form-action 'self' http:;");
  assertStringIncludes(policyFor("http://127.0.0.1:5/x"), "form-action 'self' http://127.0.0.1:5;");
});

Deno.test("the page before the proof asks for an operator's token only where there is one", () => {
  assertEquals(provePage(PROVE).html.includes('name="token"'), false);
  assertEquals(provePage({ ...PROVE, canSignIn: true }).html.includes('name="token"'), true);
});

Deno.test("a person can type the code at once", () => {
  assertMatch(provePage(PROVE).html, /<input id="code"[^>]* autofocus/);
});

Deno.test("what is chosen at first is asked at the machine, or reading where no more was asked for", () => {
  const page = (rights: readonly ("read" | "confirm" | "call")[]) =>
    consentPage({
      client: CLIENT,
      consentedBy: "ada",
      offices: [{ name: "lab", computers: [] }],
      isChoice: false,
      rights,
      problem: undefined,
    }).html;
  assert(/value="confirm" required checked/.test(page(["read", "confirm", "call"])));
  assert(/value="read" required checked/.test(page(["read"])));
  assertStringIncludes(page(["read"]), "no Computer is connected");
});

Deno.test("every text of somebody else is escaped", () => {
  const hostile = `"><script>'&`;
  const client = { ...CLIENT, name: hostile, documentHost: hostile, returnsTo: hostile };
  const pages = [
    provePage({ client, office: hostile, problem: hostile, canSignIn: true }),
    consentPage({
      client,
      consentedBy: hostile,
      offices: [{ name: hostile, computers: [hostile] }, { name: "b", computers: undefined }],
      isChoice: true,
      rights: ["read"],
      problem: hostile,
    }),
    problemPage({ status: 400, title: hostile, text: hostile }),
  ];
  for (const { html } of pages) assertNotMatch(html, /<script/);
});

Deno.test("the names of all Computers are shown", () => {
  const { html } = consentPage({
    client: CLIENT,
    consentedBy: "ada",
    offices: [{ name: "lab", computers: ["laptop", "phone"] }],
    isChoice: false,
    rights: ["read"],
    problem: undefined,
  });
  assertStringIncludes(html, "Computers: <bdi>laptop</bdi>, <bdi>phone</bdi>");
});
