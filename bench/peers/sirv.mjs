// A folder that sirv serves on node:http. Uses sirv's production settings, with which sirv reads the folder once, and ETags.
import http from "node:http";
import sirv from "sirv";

const serve = sirv(process.argv[2], { etag: true });
const server = http.createServer((request, response) => serve(request, response));
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => process.exit());
