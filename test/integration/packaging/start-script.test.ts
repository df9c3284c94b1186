import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("../../../scripts/start.mjs", import.meta.url));

async function start(port: number): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [script], { env: { PATH: process.env["PATH"] ?? "", PORT: String(port) } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, output };
}

test("`npm start` fails before the build when another program uses the port", async () => {
  const other = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  try {
    expect(await start(port)).toEqual({
      status: 1,
      output: `Another program uses port ${port} of 127.0.0.1. Stop it, or choose another port: PORT=8001 npm start\n`,
    });
  } finally {
    other.close();
  }
});

test("`npm start` prints the URL of the daemon that already uses the port", async () => {
  const daemon = createHttpServer((_request, response) => response.end(JSON.stringify({ name: "runtimed" })));
  await new Promise<void>((resolve) => daemon.listen(0, "127.0.0.1", resolve));
  const { port } = daemon.address() as AddressInfo;
  try {
    const { status, output } = await start(port);
    expect(status).toBe(1);
    expect(output).toContain(`A daemon of this runtime serves at http://127.0.0.1:${port} already. `);
    expect(output).toContain("PORT=8001 RUNTIME_STATE_DIR=.runtime/state-8001 npm start\n");
  } finally {
    daemon.close();
  }
});
