import { readdirSync, readlinkSync } from "node:fs";
import { Agent, request } from "node:http";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { childProcessesOf, spawnedBy } from "../../support/child-processes.js";
import { connect, uploadOf } from "../../support/connect.js";
import { openConnection } from "../../support/exchange.js";
import { openListeningSocket } from "../../support/listening-socket.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

function handedOver(): { fd: number; url: string } {
  const socket = openListeningSocket();
  onTestFinished(socket.close);
  return { fd: socket.fd, url: `http://127.0.0.1:${socket.port}` };
}

async function upload(daemon: TestDaemon, source: string): Promise<void> {
  const files = { "manifest.yaml": manifestOf("app", "1.0.0"), "index.js": source, "package.json": '{"type":"module"}' };
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("app.tgz", await packFiles(files)) });
}

const isOfSystemd = (variable: string) => /^(?:NOTIFY|WATCHDOG|LISTEN)_/.test(variable);

/** Targets of a process' file descriptors. */
function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).map((fd) => readlinkSync(path.join(folder, fd)));
}

/** A client that sends one request after the other until it ends, and records each outcome other than 200. */
class Client {
  answered = 0;
  readonly problems: string[] = [];
  readonly #agent: Agent;
  readonly #url: string;
  readonly #ended: Promise<void>;
  #isEnding = false;

  constructor(url: string, { keepAlive }: { keepAlive: boolean }) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive, maxSockets: 1 });
    this.#ended = this.#run();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#ended;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      const outcome = await this.#ask();
      if (outcome === 200) this.answered += 1;
      else this.problems.push(String(outcome));
    }
  }

  #ask(): Promise<unknown> {
    return new Promise((resolve) => {
      const call = request(this.#url, { agent: this.#agent }, (response) => {
        response
          .resume()
          .once("end", () => resolve(response.statusCode))
          .once("error", resolve);
      });
      call.once("error", resolve).end();
    });
  }
}

describe("the listening sockets that systemd passes to a daemon", () => {
  test("replace HOST and PORT", async () => {
    const [first, second] = [handedOver(), handedOver()];
    const daemon = await startDaemon({ listenFds: [first.fd, second.fd], env: { HOST: "192.0.2.1", PORT: "1" } });
    onTestFinished(daemon.dispose);

    expect(daemon.url).toBe(first.url);
    for (const { url } of [first, second]) expect((await fetch(`${url}/api/health/ready`)).status).toBe(200);

    const open = await openConnection(second.url);
    expect(await daemon.stop()).toBe(0);
    await open.closed();
  });

  test("are ignored when LISTEN_PID names another process", async () => {
    const socket = handedOver();
    const daemon = await startDaemon({ env: { LISTEN_FDS: "1", LISTEN_PID: "1" } });
    onTestFinished(daemon.dispose);

    expect(daemon.url).not.toBe(socket.url);
    expect((await fetch(`${daemon.url}/api/health/ready`)).status).toBe(200);
  });

  test("queue requests that arrive before the daemon is ready", async () => {
    const directory = await temporaryDirectory();
    const socket = handedOver();
    const early = fetch(`${socket.url}/api/health/ready`);
    const daemon = await startDaemon({ directory, listenFds: [socket.fd] });
    onTestFinished(daemon.kill);

    expect((await early).status).toBe(200);
  });

  test("still serve open connections after the daemon has begun to stop", async () => {
    const socket = handedOver();
    const daemon = await startDaemon({ listenFds: [socket.fd] });
    onTestFinished(daemon.dispose);
    const [fresh, idle] = await Promise.all([openConnection(socket.url), openConnection(socket.url)]);
    const ask = "GET /api/health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    idle.socket.write(ask);
    expect((await idle.nextAnswer()).headers["connection"]).toBe("keep-alive");
    daemon.process.kill("SIGTERM");
    await expect.poll(daemon.output, { interval: 2 }).toContain('"stopping"');

    for (const { socket: client } of [fresh, idle]) client.write(ask);

    for (const connection of [fresh, idle]) {
      const { status, headers } = await connection.nextAnswer();
      expect({ status, connection: headers["connection"] }).toEqual({ status: 200, connection: "close" });
      expect(await connection.closed()).toBe("");
    }
    await expect.poll(() => daemon.process.exitCode).toBe(0);
  });

  test("are not inherited by isolates and plugins, nor are systemd's variables", async () => {
    const directory = await temporaryDirectory();
    await writeTree(path.join(directory, "plugins"), {
      "spy/manifest.yaml": "name: spy\nversion: 1.0.0\nbase: /spy\n",
      "spy/plugin.js": `
        import { execFileSync } from "node:child_process";
        const child = () => execFileSync(process.execPath, ["-e", "console.log(JSON.stringify(process.env))"], { encoding: "utf8" });
        export default { routes: { fetch: () => Response.json({ own: process.env, child: JSON.parse(child()) }) } };`,
    });
    const socket = handedOver();
    const env = { NOTIFY_SOCKET: path.join(directory, "nobody"), WATCHDOG_USEC: "60000000" };
    const daemon = await startDaemon({ directory, listenFds: [socket.fd], env });
    onTestFinished(daemon.kill);
    await upload(daemon, "export default { fetch: () => Response.json(process.env) };");

    const spied = (await (await fetch(`${daemon.url}/spy`)).json()) as Record<"own" | "child", object>;
    const seen = (await (await fetch(`${daemon.url}/app/`)).json()) as object;

    expect([spied.own, spied.child, seen].flatMap((variables) => Object.keys(variables)).filter(isOfSystemd)).toEqual([]);
    const shared = readlinkSync(`/proc/self/fd/${socket.fd}`);
    const pid = daemon.process.pid ?? 0;
    expect(descriptorsOf(pid)).toContain(shared);
    const isolates = spawnedBy(pid);
    expect(isolates.length).toBeGreaterThan(0);
    for (const isolate of [...childProcessesOf(pid), ...isolates]) expect(descriptorsOf(isolate)).not.toContain(shared);
  });

  test("lose no request when the daemon restarts 20 times under load", { timeout: 240_000 }, async () => {
    const directory = await temporaryDirectory();
    const socket = handedOver();
    let daemon = await startDaemon({ directory, listenFds: [socket.fd] });
    onTestFinished(() => daemon.kill());
    // Delayed responses, so that some are in progress when the daemon stops.
    await upload(
      daemon,
      "export default { fetch: async () => (await new Promise((done) => setTimeout(done, 30 * Math.random())), new Response('ok')) };",
    );
    const clients = Array.from({ length: 8 }, (_, index) => new Client(`${socket.url}/app/`, { keepAlive: index % 2 === 0 }));
    onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))));
    const answered = () => clients.map((client) => client.answered);

    for (let restart = 0; restart < 20; restart += 1) {
      const before = answered();
      await expect.poll(() => answered().every((count, index) => count > (before[index] ?? 0) + 2)).toBe(true);
      expect(await daemon.stop()).toBe(0);
      daemon = await startDaemon({ directory, listenFds: [socket.fd] });
    }
    await Promise.all(clients.map((client) => client.end()));

    expect(clients.flatMap(({ problems }) => problems)).toEqual([]);
    for (const count of answered()) expect(count).toBeGreaterThan(40);
  });
});
