// Responds like the steady worker, without a daemon: slowness here at the same time comes from the machine. Sends its port to its parent.
import http from "node:http";

const server = http.createServer((request, response) => response.end(`${request.url.split("?")[1]}:${"x".repeat(1000)}`));
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());
