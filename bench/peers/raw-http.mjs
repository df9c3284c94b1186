// The baseline of each row: node:http does the same work with the same bytes, without isolation.
import http from "node:http";
import { Readable, Writable } from "node:stream";
import { page, records } from "../workers/payload.js";
import { work } from "../workers/work.js";

const [mode, argument] = process.argv.slice(2);
const chunk = Buffer.alloc(64 * 1024, "x");

const handlers = {
  ok: (_request, response) => response.end("ok"),
  "ok-or-never"(request, response) {
    if (request.url === "/ok/") response.end("ok");
  },
  echo(request, response) {
    const chunks = [];
    request.on("data", (piece) => chunks.push(piece));
    request.on("end", () => response.end(Buffer.concat(chunks)));
  },
  json: (_request, response) => response.setHeader("content-type", "application/json").end(JSON.stringify(records)),
  html: (_request, response) => response.setHeader("content-type", "text/html; charset=utf-8").end(page),
  compute: (_request, response) => response.end(String(work(Number(argument)))),
  stream(request, response) {
    if (request.method === "POST") {
      let total = 0;
      const counter = new Writable({
        write(piece, _encoding, done) {
          total += piece.length;
          done();
        },
      });
      request.pipe(counter).on("finish", () => response.end(String(total)));
      return;
    }
    let left = Number(new URL(request.url, "http://localhost").searchParams.get("bytes"));
    const source = new Readable({
      read() {
        this.push(left > 0 ? chunk : null);
        left -= chunk.length;
      },
    });
    source.pipe(response);
  },
};

const server = http.createServer(handlers[mode]);
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => process.exit());
