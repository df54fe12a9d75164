/** A minimal Server with Socket.IO, with which our Server is compared. It forwards requests and notifications. */
import { createServer } from "node:http";
import { Server, type Socket } from "socket.io";

const http = createServer();
const computers = new Map<string, Socket>();
new Server(http, { maxHttpBufferSize: 256 * 1024 * 1024 }).of("/smcp").on("connection", (socket) => {
  let office: string;
  socket.on("server:join_office", ({ role, name, office_id }, ack) => {
    if (role === "computer") computers.set(name, socket);
    socket.on("disconnect", () => computers.delete(name));
    socket.join(office = office_id);
    ack(true, null);
  });
  socket.on(
    "client:tool_call",
    (body, ack) => computers.get(body.computer)?.emit("client:tool_call", body, ack),
  );
  socket.on("server:update_config", (body) => socket.to(office).emit("notify:update_config", body));
});
http.listen(0, "127.0.0.1", () => {
  const address = http.address();
  console.log(`listening on 127.0.0.1:${typeof address === "object" ? address?.port : undefined}`);
});
