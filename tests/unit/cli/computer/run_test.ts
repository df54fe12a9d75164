import { assert } from "@std/assert";
import { isKeptLine } from "../../../../src/cli/computer/run.ts";

Deno.test("isKeptLine() keeps lines without a secret", () => {
  for (
    const line of [
      "status",
      "input set key",
      "  input set key  ",
      "input list",
      "connect http://h:1",
      "call a b=1",
      "call f path=/a?b",
      "server add a -- npx -y pkg --port 1",
      'call echo \'{"path":"a","keyboard":1}\'',
      "server add a http://h:80/mcp",
      "read dpe://host/doc/pages/1",
    ]
  ) {
    assert(isKeptLine(line), line);
  }
});

Deno.test("isKeptLine() keeps no line that may hold a secret, however it is written", () => {
  for (
    const line of [
      "input set key hunter2",
      " input   set key 'hunter2'",
      "input --json set key hunter2",
      "--json input set key hunter2",
      '"input" set key hunter2',
      "connect http://h:1 --token hunter2",
      "connect http://h:1 --token=hunter2",
      "connect http://user:hunter2@h:1",
      "server add a http://h/mcp?key=hunter2",
      "server add a http://h/mcp --header X=hunter2",
      "server add a --env K=hunter2 -- npx a",
      "server add a -- npx a --api-key hunter2",
      'server add a {"command":"x","env":{"K":"hunter2"}}',
      "call login password=hunter2",
      "input set key 'hunter2",
      `call login '{"password":"hunter2"}'`,
      `call login {"user":"a","db":{"apiKey":"hunter2"}}`,
      `call login --params '{"token": "hunter2"}'`,
      "call login user=a pass=hunter2",
      "call connect 'host=db password=hunter2'",
      "call connect dsn='Server=db;Pwd=hunter2'",
      "server add x -- srv --key hunter2",
      "server add x -- srv --pat=hunter2",
      "server add x -- srv -H 'X-Key: hunter2'",
      "server add x -- docker run -e SERVICE=hunter2 image",
      "server add x -- srv postgres://u:hunter2@db/x",
      "server add x -- srv postgres://u:hun/ter2@db/x",
      `call login '{"password":"hunter2`,
    ]
  ) assert(!isKeptLine(line), line);
});
