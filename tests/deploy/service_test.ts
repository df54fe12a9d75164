/** `computer service` and the unit of a Server on real systemd, as a new user meets them. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runHosted } from "../fixtures/hosted_door.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { Container, containerProblem } from "./_container.ts";
import { freePort } from "./_proxies.ts";
import { ROOT, startServer } from "./_tools.ts";

const problem = isFullSize
  ? containerProblem()
  : "the service on real systemd takes a minute: at full size alone";
if (problem !== undefined) console.log(`deploy: skipped, ${problem}`);

const TOKEN = "service-test-token";
const CONFIG = {
  mcpServers: {
    kiosk: {
      command: "deno",
      args: ["run", "-A", "--quiet", "/opt/a2c/tests/fixtures/kiosk_stdio.ts"],
      default_tool_meta: { auto_apply: true },
    },
  },
};

Deno.test({
  name:
    "computer service answers calls after an installation, a crash and a reboot, and leaves nothing behind",
  ignore: problem !== undefined,
}, async () => {
  await using server = await startServer(["--token", TOKEN]);
  await using container = await Container.boot();
  const ada = async (...words: string[]) =>
    await container.runProgram("ada", "computer", "service", ...words);
  const state = async () => JSON.parse((await ada("status", "--json")).output.split("\n}")[0] + "}");
  const callsAnswer = async () => {
    const office = ["--url", server.url, "--office", "lab", "--name", "agent", "--token", TOKEN];
    const { code, stdout } = await runHosted("agent.ts", [...office, "call", "echo", "text=hello"]);
    return code === 0 && stdout.includes("hello");
  };
  await container.run("root", "useradd --create-home --shell /bin/bash ada");
  await container.run("ada", `echo '${JSON.stringify(CONFIG)}' >mcp.json; umask 077; echo ${TOKEN} >token`);

  let startMs = performance.now();
  const options = `--url ${server.url} --office lab --name laptop --config mcp.json --token-file token`;
  const installed = await ada("install", "--", options);
  assertEquals(installed.code, 0, installed.output);
  assertMatch(installed.output, /state +running[^]*office +lab, connected/);
  await eventually(callsAnswer, (answers) => answers, "an answer of the service");
  console.log(`installed and answers after ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  const unit = await container.run("ada", "cat .config/systemd/user/a2c-smcp-computer-laptop.service");
  assertEquals(unit.output.includes(TOKEN), false);

  // Once more: the same service, running.
  assertEquals((await ada("install", "--", options)).code, 0);
  const manager = "XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user";
  await container.run("ada", `kill -9 $(${manager} show -P MainPID a2c-smcp-computer-laptop)`);
  const again = await eventually(
    state,
    ({ restarts, office }) => restarts === 1 && office === "lab",
    "a restart",
  );
  assertEquals(again.last_exit.signal, 9);
  // An installation over it waits for the new start.
  assertMatch((await ada("install", "--", options)).output, /office +lab, connected/);

  assertStringIncludes((await ada("status")).output, "sudo loginctl enable-linger ada");
  await container.run("root", "loginctl enable-linger ada");
  await container.stop();
  startMs = performance.now();
  await container.start();
  await eventually(callsAnswer, (answers) => answers, "an answer after the reboot");
  console.log(`answers ${((performance.now() - startMs) / 1000).toFixed(1)} s after the power button`);

  // A refused Computer is not started again.
  await container.run("ada", `echo wrong >token; ${manager} restart a2c-smcp-computer-laptop`);
  const refused = await eventually(
    state,
    (value) => value.state === "stopped",
    "the end of a refused Computer",
  );
  assertEquals([refused.last_exit.code, refused.restarts], [4, 0]);
  const { output: log } = await ada("logs", "--lines", "20");
  assertMatch(log, /a2c-smcp\[\d+\]: INFO .*MCP server running/);

  // A program that is gone says what to do, and is not started again and again.
  const gone = "systemctl restart --no-block a2c-smcp-computer-laptop";
  await container.run("root", "mount -t tmpfs none /opt/a2c");
  await container.run("ada", gone.replace("systemctl", manager));
  const told = "is gone: install a2c-smcp again, or remove this service with: systemctl --user disable " +
    "--now a2c-smcp-computer-laptop.service";
  const journal = "XDG_RUNTIME_DIR=/run/user/$(id -u) journalctl --user-unit=a2c-smcp-computer-laptop -n 5";
  await eventually(
    async () => (await container.run("ada", journal)).output,
    (output) => output.includes(told),
    "what is to be done",
  );
  await container.run("root", "umount /opt/a2c");

  assertEquals((await ada("uninstall")).code, 0);
  const left = await container.run(
    "ada",
    `find .config .local -name '*a2c*service*'; ${manager} list-unit-files 'a2c*'`,
  );
  assertMatch(left.output, /^0 unit files listed/m);
  assertEquals(left.output.includes("laptop"), false);
});

Deno.test({
  name: "the unit runs a Server and a hub that machines join by code, and root is their operator",
  ignore: problem !== undefined,
}, async () => {
  await using container = await Container.boot();
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const root = async (line: string) => {
    const { code, output } = await container.run("root", line);
    assertEquals(code, 0, `${line}\n${output}`);
    return output;
  };
  const unit = await Deno.readTextFile(`${ROOT}deploy/a2c-smcp.service`);
  await container.write("etc/systemd/system/a2c-smcp.service", unit);
  await container.write("etc/a2c-smcp/environment", `PORT=${port}\n`);
  await root("groupadd --system a2c-tokens; install -d -m 2750 -g a2c-tokens /etc/a2c-smcp");
  await root(`cd /etc/a2c-smcp; umask 027; echo ${TOKEN} >tokens; echo operator-token-0123 >operators`);
  await root("cd /etc/a2c-smcp; umask 027; echo client-token-01234 name=claude offices=lab >clients");
  await root("useradd --create-home --shell /bin/bash ada; systemctl daemon-reload");
  await root("systemctl enable --now a2c-smcp");
  const overview = () => container.run("root", "a2c-smcp server overview");
  await eventually(overview, ({ code }) => code === 0, "the commands of root");
  assertEquals((await container.run("ada", "a2c-smcp server overview")).code, 3);

  const joining = container.run("ada", `a2c-smcp computer join ${url} --name laptop >joined`);
  const read = () => container.run("ada", "cat joined");
  const { output: shown } = await eventually(read, ({ output }) => /^Code/m.test(output), "the code");
  const [, code = ""] = /^Code {2}(\S+)$/m.exec(shown) ?? [];
  assertStringIncludes(await root(`a2c-smcp server machines approve ${code} --office lab`), "approved");
  assertEquals((await joining).code, 0);

  const hub = (await Deno.readTextFile(`${ROOT}deploy/hub.conf`)).replaceAll("-3000.json", `-${port}.json`);
  await container.write("etc/systemd/system/a2c-smcp.service.d/hub.conf", hub);
  await root("systemctl daemon-reload; systemctl restart a2c-smcp");
  await eventually(overview, ({ code }) => code === 0, "the hub without tokens");
  assertMatch(await root("a2c-smcp hub invite lab"), /^\S+\nGood once/);
  const audit = () => container.run("root", "cat /var/log/a2c-smcp/audit.log");
  await eventually(audit, ({ output }) => output.includes("a code was made"), "the line of the code");

  const withTokens = hub.replaceAll("# Environment=", "Environment=");
  await container.write("etc/systemd/system/a2c-smcp.service.d/hub.conf", withTokens);
  await root("systemctl daemon-reload; systemctl restart a2c-smcp");
  await eventually(overview, ({ code }) => code === 0, "the hub");
  assertStringIncludes(await root("a2c-smcp server machines"), "laptop");
  assertMatch(await root("a2c-smcp server tokens"), /token-1[^]*claude[^]*operator/);
  assertMatch(await root("a2c-smcp hub invite lab"), /^\S+\nGood once/);
  // A line that is deleted counts while the hub runs.
  await root(
    "sed -i /claude/d /etc/a2c-smcp/clients; echo another-token-0123 name=cursor >>/etc/a2c-smcp/clients",
  );
  const tokens = () => container.run("root", "a2c-smcp server tokens");
  const { output: left } = await eventually(tokens, ({ output }) => output.includes("cursor"), "the change");
  assertEquals(left.includes("claude"), false);
  assertMatch(await root("a2c-smcp hub grants"), /No grants/);
});
