import { assertEquals, assertThrows } from "@std/assert";
import type { Command } from "commander";
import { createAgentProgram } from "../../../../src/cli/agent/main.ts";
import { createComputerProgram } from "../../../../src/cli/computer/main.ts";
import { UsageError } from "../../../../src/cli/outcome.ts";
import { everyCommand } from "../../../../src/cli/program.ts";
import { createServerProgram } from "../../../../src/cli/server/main.ts";
import { CLIENT_VARIABLES, misspeltVariables } from "../../../../src/cli/server/variables.ts";

const program = createServerProgram(new AbortController().signal);

Deno.test("a variable of the environment that clients read as well means the same to the Server", () => {
  const { signal } = new AbortController();
  const variablesOf = (program: Command) =>
    new Set(
      [...everyCommand(program)].flatMap(({ options }) =>
        options.flatMap(({ envVar }) => envVar === undefined ? [] : [envVar])
      ),
    );
  const clients = variablesOf(createAgentProgram(signal)).union(variablesOf(createComputerProgram(signal)));
  const shared = variablesOf(createServerProgram(signal)).intersection(clients);
  assertEquals([...shared].toSorted(), [
    "A2C_LOG_FORMAT",
    "A2C_LOG_LEVEL",
    "A2C_PATH",
    "A2C_TOKEN",
    "A2C_TOKEN_FILE",
  ]);
  assertEquals([...clients.difference(shared)].toSorted(), [...CLIENT_VARIABLES].toSorted());
});

Deno.test("misspeltVariables() warns of variables that are nearly those of the Server, and of no other", () => {
  const variables = [
    "A2C_PINGINTERVAL",
    "A2C_PORT",
    "A2C_TOKEN",
    "A2C_URL",
    "A2C_INPUT_KEY",
    "PORT",
    "POST",
    "HOME",
  ];
  assertEquals(misspeltVariables(program, variables), [
    "environment variable A2C_PINGINTERVAL has no effect; did you mean A2C_PING_INTERVAL?",
    "environment variable A2C_PORT has no effect; did you mean PORT?",
  ]);
});

Deno.test("misspeltVariables() prefers the variable with which a name begins, or that begins with it", () => {
  const meant: Readonly<Record<string, string>> = {
    A2C_HOSTNAME: "A2C_HOST",
    A2C_METRICS: "A2C_METRICS_PORT",
    A2C_MAX_CONNECTIONS: "A2C_MAX_CONNECTIONS_PER_PRINCIPAL",
    A2C_PING_INTERVAL_MS: "A2C_PING_INTERVAL",
  };
  for (const [name, other] of Object.entries(meant)) {
    assertEquals(misspeltVariables(program, [name]), [
      `environment variable ${name} has no effect; did you mean ${other}?`,
    ]);
  }
});

Deno.test("misspeltVariables() refuses what is nearly a variable that protects the Server", () => {
  const refused: Readonly<Record<string, string>> = {
    A2C_TLS_CERT_FILE: 'did you mean "A2C_TLS_CERT"?',
    A2C_TLS_KEY_FILE: 'did you mean "A2C_TLS_KEY"?',
    A2C_TLS: 'did you mean "A2C_TLS_CERT"?',
    A2C_TLS_ENABLED: "known: A2C_TLS_CERT, A2C_TLS_KEY",
    A2C_TSL_CERT: 'did you mean "A2C_TLS_CERT"?',
    A2C_TOKEN_FLIE: 'did you mean "A2C_TOKEN',
    A2C_TOKENFILE: 'did you mean "A2C_TOKEN_FILE"?',
    A2C_TOKENS: 'did you mean "A2C_TOKEN"?',
    A2C_TOKENS_FILE: 'did you mean "A2C_TOKEN_FILE"?',
    A2C_AUTH_TOKEN: "known: A2C_AUTH_FIELD, A2C_AUTH_HEADER",
    A2C_METRICS_TOKEN_FLIE: 'did you mean "A2C_METRICS_TOKEN',
    A2C_REDIS: 'did you mean "A2C_REDIS_URL"?',
    A2C_REDIS_URI: 'did you mean "A2C_REDIS_URL"?',
    A2C_REDIS_HOST: "known: A2C_REDIS_URL, A2C_REDIS_PREFIX",
    A2C_AUDIT: 'did you mean "A2C_AUDIT_LOG"?',
    A2C_AUDIT_LOG_FILE: 'did you mean "A2C_AUDIT_LOG"?',
  };
  for (const [name, hint] of Object.entries(refused)) {
    const message = `Cannot use environment variable ${name}: unknown option; ${hint}`;
    assertThrows(() => misspeltVariables(program, ["HOME", name]), UsageError, message);
  }
});

Deno.test("misspeltVariables() takes no variable of Kubernetes, of an input or of another program for a slip", () => {
  const others = [
    "A2C_REDIS_SERVICE_HOST",
    "A2C_REDIS_SERVICE_PORT",
    "A2C_REDIS_SERVICE_PORT_REDIS",
    "A2C_REDIS_PORT_6379_TCP",
    "A2C_REDIS_PORT_6379_TCP_ADDR",
    "A2C_PORT_3000_TCP",
    "A2C_INPUT_TOKEN",
    "A2C_INPUT_TLS_KEY",
    "A2C_SITE",
    "A2C_TEST_SIZE",
    "REDIS_URL",
  ];
  assertEquals(misspeltVariables(program, others), []);
  assertEquals(misspeltVariables(program, ["A2C_REDIS_PORT"]), [
    "environment variable A2C_REDIS_PORT has no effect; did you mean A2C_REDIS_URL?",
  ]);
});
