/** One of several processes of a Server: the URL of Redis, the heartbeat, the lease and the prefix are its arguments. */
import { SmcpServer } from "../../server.ts";

const [url = "", heartbeat, lease, prefix] = Deno.args;
const redis = { url, heartbeatMs: Number(heartbeat), leaseMs: Number(lease), prefix };
const server = await SmcpServer.listen({ port: 0, redis });
console.log(`listening on ${server.port}`);
