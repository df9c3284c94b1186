import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { open, rm, truncate, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Primary } from "../../../../src/server/access/replica/primary-client.js";
import { childProcessesOf, commandOf } from "../../../support/child-processes.js";
import { newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

async function primary(options: Parameters<typeof startSqld>[0] = {}): Promise<Sqld> {
  const sqld = await startSqld(options);
  onTestFinished(() => sqld.dispose());
  return sqld;
}

/** Returns the processes that sync for the stores of this test. */
function syncers(): number[] {
  return childProcessesOf(process.pid).filter((pid) => commandOf(pid).includes("syncer/main.js"));
}

describe("a damaged replica of the key store", () => {
  const damages: Record<string, (file: string) => Promise<void>> = {
    truncated: (file) => truncate(file, 5_000),
    empty: (file) => truncate(file, 0),
    "overwritten at the start": (file) => overwrite(file, 0),
    "overwritten in the middle": (file) => overwrite(file, 4_096),
    deleted: (file) => rm(file),
    "without its index file": (file) => rm(`${file}-client_wal_index`),
  };

  test.each(Object.keys(damages))("is replaced by a copy of the primary at the start (damage: %s)", async (name) => {
    const { url } = await primary();
    const first = await openReplicatedStore(url);
    const key = newKey();
    await first.store.create(key);
    const { stateDirectory } = first;
    await first.store.close();
    await damages[name]?.(path.join(stateDirectory, "replica/current/keys.db"));

    const { store } = await openReplicatedStore(url, { stateDirectory });
    await expect.poll(() => store.findByHash(key.hash)).toBeDefined();
    const later = newKey();
    const { store: other } = await openReplicatedStore(url);
    await other.create(later);

    await expect.poll(() => store.findByHash(later.hash)).toBeDefined();
    expect(store.readState()).toMatchObject({ isReadable: true, isWritable: true });
  });

  test("is replaced by a copy of the primary when its files are deleted during use", async () => {
    const { url } = await primary();
    const { store, stateDirectory } = await openReplicatedStore(url);
    const key = newKey();
    await store.create(key);
    await rm(path.join(stateDirectory, "replica/current"), { recursive: true });

    await expect.poll(() => store.readState().replica?.renewals).toBe(1);

    expect(store.findByHash(key.hash)).toBeDefined();
    const later = newKey();
    const { store: other } = await openReplicatedStore(url);
    await other.create(later);
    await expect.poll(() => store.findByHash(later.hash)).toBeDefined();
  });
});

async function overwrite(file: string, position: number): Promise<void> {
  const handle = await open(file, "r+");
  await handle.write(Buffer.alloc(200, 0x7f), 0, 200, position);
  await handle.close();
}

describe("the syncer process of a replica", () => {
  test("is restarted when it is killed, and killed when it does not respond", async () => {
    const { url } = await primary();
    const { store } = await openReplicatedStore(url);
    const { store: other } = await openReplicatedStore(url, { syncIntervalMs: 60_000 });
    for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
      const before = syncers();
      for (const pid of before) process.kill(pid, signal);
      const key = newKey(signal);

      await other.create(key);

      await expect.poll(() => store.findByHash(key.hash)).toBeDefined();
      await expect.poll(() => syncers().filter((pid) => before.includes(pid))).toEqual([]);
    }
    expect(store.readState().replica?.renewals).toBe(0);
  });

  test("hides the primary's token, and exits when the key store closes", async () => {
    const { url } = await primary();
    const { store } = await openReplicatedStore(url, { token: "secret-of-the-primary" });
    await store.create(newKey());
    await expect.poll(() => syncers().length).toBeGreaterThan(0);

    for (const pid of syncers()) {
      expect(commandOf(pid)).not.toContain("secret-of-the-primary");
      expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("secret-of-the-primary");
    }
    await store.close();
    await expect.poll(syncers).toEqual([]);
  });
});

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

describe("a primary that requires a token", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const tokenOf = (claims: object) => {
    const signed = `${encode({ alg: "EdDSA", typ: "JWT" })}.${encode(claims)}`;
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
  };

  test("accepts changes with a valid token, and the store reports an invalid token", async () => {
    const keyFile = path.join(await temporaryDirectory(), "key.pem");
    await writeFile(keyFile, publicKey.export({ type: "spki", format: "pem" }));
    const { url } = await primary({ args: ["--auth-jwt-key-file", keyFile] });
    const { store } = await openReplicatedStore(url, { token: tokenOf({}) });
    await store.create(newKey());
    expect(store.readState()).toMatchObject({ isWritable: true });

    const good = tokenOf({});
    const bad = [undefined, `${good.slice(0, -4)}AAAA`, tokenOf({ exp: 1_000_000_000 })];
    for (const token of bad) {
      const refused = await openReplicatedStore(url, token === undefined ? {} : { token });

      const { isReadable, isWritable, problem } = refused.store.readState();
      expect({ isReadable, isWritable }).toEqual({ isReadable: false, isWritable: false });
      expect(problem).toMatch(/^the primary of the key store rejects the token \(status 401\), which is missing, wrong or expired/);
      if (token !== undefined) expect(problem).not.toContain(token);
      await expect(refused.store.create(newKey())).rejects.toThrow(/rejects the token/);
    }
    expect(store.keyCount).toBe(1);
  });
});

describe("a key store whose primary sends no valid response", () => {
  test("stores a new key and a revocation only once when the response is lost", async () => {
    const sqld = await primary();
    const { store: watching } = await openReplicatedStore(sqld.url);
    const proxy = await startCuttingProxy(sqld.url);
    const { store } = await openReplicatedStore(proxy.url);
    proxy.cutNextResponseTo("INSERT INTO keys");
    const key = newKey("made once");

    const stored = await store.create(key);

    expect(proxy.cuts()).toBe(1);
    await expect.poll(() => watching.list()).toEqual([stored]);
    expect(store.list()).toEqual([stored]);
    proxy.cutNextResponseTo("revoked_at");
    expect(await store.revoke(stored.id, 1_700_000_001)).toBe(true);
    expect(proxy.cuts()).toBe(2);
    await expect.poll(() => watching.list()).toEqual([]);
  });

  test("reports a possible change when the repeated request also gets no response", async () => {
    const sqld = await primary();
    const proxy = await startCuttingProxy(sqld.url);
    const { store } = await openReplicatedStore(proxy.url);
    proxy.cutNextResponseTo("INSERT INTO keys", 2);

    await expect(store.create(newKey("unknown"))).rejects.toMatchObject({
      code: "KEY_STORE_UNAVAILABLE",
      message: expect.stringMatching(/The primary has possibly made the change: check it before you retry\.$/),
    });

    expect(proxy.cuts()).toBe(2);
    await expect.poll(() => store.list().map(({ name }) => name)).toEqual(["unknown"]);
  });

  test("reports a server that is not a libSQL server", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const other = await Primary.at({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: undefined });
    onTestFinished(() => other.close());

    await expect(other.read({ sql: "SELECT 1", values: [] })).rejects.toThrow(
      "does not behave like a libSQL server: its response has status 404",
    );
  });
});

interface CuttingProxy {
  readonly url: string;
  /** Discards the responses to the next requests that contain the text, and closes their connections. `count`: number of requests. */
  readonly cutNextResponseTo: (text: string, count?: number) => void;
  readonly cuts: () => number;
}

async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  let text = "";
  let cutsLeft = 0;
  let cuts = 0;
  const server = createServer((client) => {
    let isDoomed = false;
    const onward = connect(Number(port), hostname);
    client.on("error", () => onward.destroy()).on("close", () => onward.destroy());
    onward.on("error", () => client.destroy()).on("close", () => client.destroy());
    client.on("data", (chunk: Buffer) => {
      if (cutsLeft > 0 && chunk.includes(text)) {
        isDoomed = true;
        cutsLeft -= 1;
      }
      onward.write(chunk);
    });
    onward.on("data", (chunk: Buffer) => {
      if (!isDoomed) client.write(chunk);
      else {
        cuts += 1;
        client.destroy();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutNextResponseTo: (next, count = 1) => {
      text = next;
      cutsLeft = count;
    },
    cuts: () => cuts,
  };
}
