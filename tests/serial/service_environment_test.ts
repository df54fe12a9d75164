/** What `computer service install` takes over from the environment in which it runs. */
import { assertEquals, assertRejects } from "@std/assert";
import { createComputerProgram } from "../../src/cli/computer/main.ts";
import { planService } from "../../src/cli/computer/service/plan.ts";
import { UsageError } from "../../src/cli/outcome.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const VARIABLES = { A2C_URL: "http://127.0.0.1:3000", A2C_OFFICE: "lab", A2C_CONFIG: "mcp.json" };

/** The plan with these variables in the environment. */
async function planWith(
  variables: Readonly<Record<string, string>>,
  { behind = [], envFile }: { readonly behind?: readonly string[]; readonly envFile?: string } = {},
) {
  const all = Object.entries({ ...VARIABLES, ...variables });
  try {
    for (const [name, value] of all) Deno.env.set(name, value);
    const args = ["service", "install", "--name", "laptop", "--", ...behind];
    const program = createComputerProgram(new AbortController().signal, args);
    // Parses options and variables, and runs nothing.
    program.hook("preAction", () => {
      throw new DOMException("Parsed", "AbortError");
    });
    await assertRejects(() => program.parseAsync(args, { from: "user" }), DOMException, "Parsed");
    return await planService(program, { args, behind, envFile });
  } finally {
    for (const [name] of all) Deno.env.delete(name);
  }
}

Deno.test("planService() takes options and a few variables of the environment, but no secret among them", async () => {
  const { words, env } = await planWith({ NO_PROXY: "localhost", A2C_INPUT_KEY: "s3cret" });
  const office = ["--url", "http://127.0.0.1:3000", "--office", "lab"];
  assertEquals(words, ["--headless", "--name", "laptop", ...office, "--config", "mcp.json"]);
  assertEquals([env["NO_PROXY"], env["A2C_INPUT_KEY"]], ["localhost", undefined]);
  for (
    const [name, value] of [
      ["A2C_TOKEN", "s3cret"],
      ["HTTPS_PROXY", "http://ada:s3cret@proxy"],
      ["HTTPS_PROXY", "ada:s3cret@proxy:3128/"],
      ["http_proxy", "//ada:s3cret@proxy"],
    ] as const
  ) {
    const { message } = await assertRejects(() => planWith({ [name]: value }), UsageError, name);
    assertEquals(message.includes("s3cret"), false);
  }
});

Deno.test("planService() leaves secrets of the environment out where a file has them", async () => {
  using folder = new TempFolder();
  const envFile = `${folder.path}/variables`;
  await Deno.writeTextFile(envFile, "", { mode: 0o600 });
  const secrets = {
    A2C_TOKEN: "s3cret",
    A2C_HEADER: "X-Key=s3cret",
    HTTPS_PROXY: "http://ada:s3cret@proxy:3128",
  };
  const plans = [
    await planWith({ A2C_TOKEN: "s3cret" }, { behind: ["--token-file", "token"] }),
    await planWith(secrets, { envFile }),
  ];
  assertEquals(JSON.stringify(plans).includes("s3cret"), false);
});
