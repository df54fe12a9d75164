/** What the relay is measured against: the least that forwards a request through Socket.IO. */
import { createServer } from "node:http";
import { Server, type Socket } from "socket.io";

const http = createServer();
let computer: Socket | undefined;
new Server(http).of("/smcp").on("connection", (socket) => {
  socket.on("server:join_office", ({ role }, ack) => {
    if (role === "computer") computer = socket;
    ack(true, null);
  });
  socket.on("client:tool_call", (request, ack) => computer?.emit("client:tool_call", request, ack));
});
http.listen(0, "127.0.0.1", () => {
  const address = http.address();
  console.log(`listening on 127.0.0.1:${typeof address === "object" ? address?.port : undefined}`);
});
