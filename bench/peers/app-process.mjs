// Serves an app with node:http in a process of its own: app-process.mjs FILE. Writes `listening PORT` when the server is ready.
import http from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";

const { default: app } = await import(pathToFileURL(process.argv[2]).href);
const server = http.createServer(async (request, response) => {
  try {
    const answer = await app.fetch(new Request(`http://${request.headers.host}${request.url}`));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body), response);
  } catch {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  }
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening ${server.address().port}\n`));
