import { assert, assertEquals, assertThrows } from "@std/assert";
import { credentialsRefused, ProxyError, proxyFor, throughProxy } from "../../../src/reach/proxies.ts";

/** Where a request to that URL goes through, with these variables. */
function wayTo(url: string, variables: Readonly<Record<string, string>>): string | undefined {
  return proxyFor(new URL(url), (name) => variables[name] ?? "")?.origin;
}

Deno.test("proxyFor() takes the variable of the scheme, the one in small letters first, and ALL_PROXY last", () => {
  const all = {
    ALL_PROXY: "http://all:1",
    HTTPS_PROXY: "http://tls:2",
    http_proxy: "plain:3",
    HTTP_PROXY: "no:4",
  };
  assertEquals(wayTo("https://a.example/", all), "http://tls:2");
  assertEquals(wayTo("wss://a.example/", all), "http://tls:2");
  assertEquals(wayTo("ws://a.example/", all), "http://plain:3");
  assertEquals(
    wayTo("http://a.example/", { all_proxy: "http://all:1", HTTPS_PROXY: "http://tls:2" }),
    "http://all:1",
  );
  assertEquals(wayTo("https://a.example/", { ...all, A2C_PROXY: "http://own:5" }), "http://own:5");
  assertEquals(wayTo("https://a.example/", { http_proxy: "http://plain:3" }), undefined);
});

Deno.test("proxyFor() leaves out what NO_PROXY lists: names with those below them, addresses, networks, ports", () => {
  const direct: readonly (readonly [entry: string, url: string])[] = [
    ["*", "https://a.example/"],
    ["example", "https://a.example/"],
    ["a.example", "https://A.example./"],
    ["x, .a.example", "https://b.a.example/"],
    ["x *.a.example", "https://b.a.example/"],
    ["a.example:443", "https://a.example/"],
    ["a.example:8080", "http://a.example:8080/"],
    ["192.0.2.7", "http://192.0.2.7/"],
    ["192.0.2.0/24", "http://192.0.2.7/"],
    ["192.0.2.0/24", "http://[::ffff:192.0.2.7]/"],
    ["2001:db8::/32", "https://[2001:db8::1]/"],
    ["[2001:db8::1]:443", "https://[2001:db8::1]/"],
  ];
  const proxied: readonly (readonly [entry: string, url: string])[] = [
    ["", "https://a.example/"],
    ["a.example", "https://ba.example/"],
    ["a.example", "https://a.example.org/"],
    ["a.example:80", "https://a.example/"],
    ["192.0.2.0/24", "http://192.0.3.1/"],
    ["192.0.2.0/x, 192.0.2.0/99, 192.0.2.0/24/1, 2", "http://192.0.2.7/"],
    ["192.0.2.7", "http://192.0.2.7.example/"],
    [":443, ., *.", "https://a.example/"],
  ];
  const way = ([no_proxy, url]: readonly [string, string]) =>
    wayTo(url, { ALL_PROXY: "http://p:1", no_proxy });
  for (const each of direct) assertEquals(way(each), undefined, each.join(" "));
  for (const each of proxied) assertEquals(way(each), "http://p:1", each.join(" "));
});

Deno.test("proxyFor() proxies this machine only where NO_PROXY asks for it", () => {
  const urls = [
    "http://127.0.0.1:3000/",
    "http://localhost/",
    "https://x.localhost/",
    "http://[::1]/",
    "http://0.0.0.0/",
  ];
  for (const url of urls) {
    assertEquals(wayTo(url, { ALL_PROXY: "http://p:1" }), undefined, url);
    assertEquals(wayTo(url, { ALL_PROXY: "http://p:1", NO_PROXY: "x,<-loopback>" }), "http://p:1", url);
  }
});

Deno.test("proxyFor() decodes user name and password", () => {
  const variables: Record<string, string> = {
    https_proxy: "http://ad%40a:p%25:%2F%C3%A9@proxy.example:3128/",
  };
  const proxy = proxyFor(new URL("https://a.example/"), (name) => variables[name] ?? "");
  assertEquals(proxy, {
    variable: "https_proxy",
    origin: "http://proxy.example:3128",
    credentials: { username: "ad@a", password: "p%:/é" },
  });
});

Deno.test("no error about a proxy shows a password", () => {
  for (
    const value of ["http://ada:s3cret@", "http://ada:s3cret#1@p:1", "http://ada:s3cret%zz@p:1", "s3cret:x y"]
  ) {
    const error = assertThrows(
      () => wayTo("https://a.example/", { HTTPS_PROXY: value }),
      ProxyError,
      "HTTPS_PROXY",
    );
    assert(!Deno.inspect(error).includes("s3cret"), value);
  }
  const proxy = {
    variable: "HTTPS_PROXY",
    origin: "http://p:1",
    credentials: { username: "ada", password: "s3cret" },
  };
  const told = [
    credentialsRefused(proxy).message,
    throughProxy(proxy, "client error (Connect): proxy authentication required"),
    throughProxy(proxy, "connection refused"),
  ];
  assertEquals(told.map((text) => /"http:\/\/p:1".*HTTPS_PROXY/.test(text)), [true, true, true]);
  assertEquals(told.map((text) => text.includes("s3cret")), [false, false, false]);
});
