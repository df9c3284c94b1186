import http from "node:http";
import type { AddressInfo } from "node:net";

export interface PathProxy {
  /** The daemon's URL below a path: `http://127.0.0.1:43210/tools/runtime`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** A proxy in a common setup: strips a path prefix, keeps `Host`, adds no other header. */
export async function startPathProxy(target: string, prefix: string): Promise<PathProxy> {
  const server = http.createServer((request, response) => {
    if (!request.url?.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const onward = http.request(
      target + request.url.slice(prefix.length),
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
