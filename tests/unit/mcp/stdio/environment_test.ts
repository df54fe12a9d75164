import { assertEquals } from "@std/assert";
import { childEnvironment } from "../../../../src/mcp/stdio/environment.ts";
import { isWindows } from "../../../fixtures/system.ts";

Deno.test("a child inherits the variables that tools need, and no credentials", () => {
  const own = {
    PATH: "/bin",
    HOME: "/me",
    https_proxy: "http://proxy",
    AWS_SECRET_ACCESS_KEY: "x",
    A2C_TOKEN: "y",
    XDG_RUNTIME_DIR: "/run/user/1",
  };
  const proxy = isWindows ? "HTTPS_PROXY" : "https_proxy";
  assertEquals(childEnvironment(own, null), { PATH: "/bin", HOME: "/me", [proxy]: "http://proxy" });
});

Deno.test("configured variables override inherited ones", () => {
  assertEquals(childEnvironment({ PATH: "/bin", TZ: "UTC" }, { PATH: "/opt", KEY: "k" }), {
    PATH: "/opt",
    TZ: "UTC",
    KEY: "k",
  });
});
