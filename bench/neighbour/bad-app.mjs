import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** Time limit of a request, for the daemon and for the plain process. */
export const timeoutMs = 500;
/**
 * Number of copies of each bad app. Each copy causes the fault only once, because the daemon delays the restart of a worker that crashes
 * repeatedly.
 */
export const copies = 2;
/** Delay between the request that causes a fault and a harmless request to the same app. */
const backAfterMs = 700;
const patienceMs = 1000;

/**
 * A fault that an app causes: one request triggers the fault, and a later request is harmless. `app` is `{ url(copy), kill(copy), close()
 * }`.
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

/** Accepts every outcome. Ends the request after `patienceMs`, which is longer than the app's own time limit `timeoutMs`. */
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
