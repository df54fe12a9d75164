import { SmcpServer } from "../../server.ts";

// Beside other tests, the port could go to one of them at once.
Deno.test("close() of a Server frees its port", async () => {
  const server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  await server.close();
  await using _next = await SmcpServer.listen({ port });
});
