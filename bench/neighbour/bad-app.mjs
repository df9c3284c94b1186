import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** Of a request, on both sides. */
export const timeoutMs = 500;
/** A worker that crashes again and again is left alone for a while: of each bad app there are so many, and each strikes once. */
export const copies = 2;
/** The bad app is asked for something harmless so long after its bad request. */
const backAfterMs = 700;
const patienceMs = 1000;

/**
 * A fault that is an app's: it is asked for what it does badly, and a while later for something harmless. `app` has the copies running:
 * `{ url(copy), kill(copy), close() }`.
 */
export async function badApp(app) {
  for (let copy = 0; copy < copies; copy += 1) await get(app, copy, "/ok");
  return {
    async strike(copy) {
      void get(app, copy, "/");
      await delay(backAfterMs);
      await get(app, copy, "/ok");
    },
    close: () => app.close(),
  };
}

/** Whatever comes of it, within a time that is longer than that of a request. */
function get(app, copy, path) {
  const url = app.url(copy);
  if (url === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const request = http.get(`${url}${path}`, { agent: false }, (response) => response.resume().once("close", resolve));
    request.once("error", resolve);
    const late = setTimeout(() => path === "/" && app.kill(copy), timeoutMs);
    request.once("response", () => clearTimeout(late));
    setTimeout(() => request.destroy(), patienceMs).unref();
    request.once("close", () => clearTimeout(late));
  });
}
