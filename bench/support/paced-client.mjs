// Requests one URL 200 times per second, or every PAUSE ms, without waiting for responses: paced-client.mjs URL [PAUSE]. On the message
// "take", sends the response times since the last message, in milliseconds.
import http from "node:http";

const [url, pauseMs = 5] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
let timesMs = [];

setInterval(ask, Number(pauseMs));
process.on("message", () => {
  process.send(timesMs);
  timesMs = [];
});
process.on("disconnect", () => process.exit());

function ask() {
  const startedAtMs = performance.now();
  const request = http.get(url, { agent }, (response) => {
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
    response.resume().once("end", () => timesMs.push(performance.now() - startedAtMs));
  });
  request.once("error", (error) => {
    throw error;
  });
}
