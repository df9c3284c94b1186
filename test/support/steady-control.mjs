// Responds like the steady worker, but without a daemon. If this server is slow at the same time, the machine is slow. Sends the port to
// the parent process.
import http from "node:http";

const server = http.createServer((request, response) => response.end(`${request.url.split("?")[1]}:${"x".repeat(1000)}`));
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());
