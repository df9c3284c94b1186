import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Connection } from "../../../src/cpanel/live/connection.js";
import { DaemonAwayError } from "../../../src/cpanel/live/daemon-away-error.js";
import { RememberedSession } from "../../../src/cpanel/session/remembered-session.js";
import { Session } from "../../../src/cpanel/session/session.js";
import { Theme } from "../../../src/cpanel/layout/theme.js";
import * as changes from "../../../src/shared/contract/worker-changes.js";
import { list } from "../../../src/shared/contract/workers.js";
import { MemoryStorage, operator } from "./sample-data.js";

beforeEach(() => void vi.useFakeTimers({ now: 1_750_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const discovery = { name: "runtimed", api: "/api", version: "1.2.3", cpanel: "/cpanel", docs: "/docs" };
const nowSeconds = 1_750_000_000;
const operations = { workers: { list } };

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

function refusal(status: number, code: string): Response {
  return json({ error: { code, message: `refused: ${code}` } }, status);
}

type Reply = () => Response;

/** A panel's connection over a `fetch` that replies by method and path. */
function openConnection(replies: Readonly<Record<string, Reply>> = {}, daemonPath = "") {
  const state = { replies: { "GET /.well-known/runtime": () => json(discovery), ...replies } as Record<string, Reply>, isAway: false };
  const calls: string[] = [];
  const fetched = vi.fn<(url: string | URL | Request, init?: RequestInit) => Promise<Response>>(async (url, init) => {
    if (state.isAway) throw new TypeError("failed to fetch");
    const call = `${init?.method ?? "GET"} ${url instanceof Request ? url.url : url}`;
    calls.push(call);
    return state.replies[call]?.() ?? refusal(404, "NOT_FOUND");
  });
  const onRefused = vi.fn<() => void>();
  return { state, calls, fetched, onRefused, connection: new Connection({ daemonPath, fetch: fetched, onRefused }) };
}

describe("Connection", () => {
  test("discovers the API below the path prefix of a proxy", async () => {
    const replies = { "GET /x/.well-known/runtime": () => json(discovery), "GET /x/api/workers": () => json([]) };
    const { connection, calls } = openConnection(replies, "/x");
    await connection.find();
    expect(connection.state.get()).toEqual({ awaySinceMs: undefined, discovery });
    expect(await connection.client(operations).workers.list()).toEqual([]);
    expect(calls).toEqual(["GET /x/.well-known/runtime", "GET /x/api/workers"]);
  });

  test("sends the session cookie and rejects redirects", async () => {
    const { connection, fetched } = openConnection();
    await connection.find();
    expect(fetched.mock.calls[0]?.[1]).toMatchObject({ credentials: "same-origin", redirect: "error", cache: "no-store" });
  });

  test("repeats requests to an unreachable daemon after 1 s, then after 2 s", async () => {
    const { connection, state, fetched } = openConnection();
    state.isAway = true;
    await connection.find();
    const { awaySinceMs } = connection.state.get();
    expect(awaySinceMs).toBeTypeOf("number");
    await vi.advanceTimersByTimeAsync(1000);
    expect(fetched).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1999);
    expect(fetched).toHaveBeenCalledTimes(2);
    state.isAway = false;
    await vi.advanceTimersByTimeAsync(1);
    expect(connection.state.get()).toEqual({ awaySinceMs: undefined, discovery });
  });

  test.each([502, 503, 504])("treats the status %d of a proxy as an unreachable daemon", async (status) => {
    const { connection } = openConnection({ "GET /api/workers": () => new Response("<html>", { status }) });
    await connection.find();
    await expect(connection.client(operations).workers.list()).rejects.toBeInstanceOf(DaemonAwayError);
    expect(connection.state.get()).toEqual({ awaySinceMs: expect.any(Number) as number, discovery });
  });

  test("reports whether an unreachable daemon has possibly carried out a request", async () => {
    const { connection, state } = openConnection();
    await connection.find();
    state.isAway = true;
    const { list: read, restart } = connection.client({ workers: { list, restart: changes.restart } }).workers;
    const params = { scope: "_", name: "shop", version: "1.0.0" };
    await expect(read()).rejects.toMatchObject({ isOutcomeUnknown: false, message: expect.stringContaining("reconnects") as string });
    await expect(restart({ params })).rejects.toMatchObject({
      isOutcomeUnknown: true,
      message: expect.stringContaining("possibly carried out") as string,
    });
  });

  test("rejects with the error code when the daemon itself responds with 503", async () => {
    const { connection } = openConnection({ "GET /api/workers": () => refusal(503, "KEY_STORE_UNAVAILABLE") });
    await connection.find();
    await expect(connection.client(operations).workers.list()).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
    expect(connection.state.get().awaySinceMs).toBeUndefined();
  });

  test.each([
    ["AUTH_REQUIRED", 1],
    ["INVALID_KEY", 0],
  ])("reports an expired session after a 401 (error code: %s, number of reports: %d)", async (code, count) => {
    const { connection, onRefused } = openConnection({ "GET /api/workers": () => refusal(401, code) });
    await connection.find();
    await expect(connection.client(operations).workers.list()).rejects.toMatchObject({ code });
    expect(onRefused).toHaveBeenCalledTimes(count);
  });
});

async function openSession(replies: Readonly<Record<string, Reply>>, remembered?: string) {
  const storage = new MemoryStorage();
  if (remembered !== undefined) storage.setItem("cpanel.session /cpanel/", remembered);
  const opened = openConnection(replies);
  await opened.connection.find();
  const session = new Session({ connection: opened.connection, remembered: new RememberedSession({ storage, panelPath: "/cpanel/" }) });
  return { ...opened, storage, session };
}

const shown = () => json({ authenticated: true, principal: operator });

describe("Session", () => {
  test("sends no session request when the browser has stored no session", async () => {
    const { session, calls } = await openSession({});
    await session.look();
    expect(session.state.get()).toEqual({ phase: "signed-out", hasLeft: false });
    expect(calls).toEqual(["GET /.well-known/runtime"]);
  });

  test("restores a stored session and its expiry", async () => {
    const { session } = await openSession({ "GET /api/admin/session": shown }, String(nowSeconds + 60));
    await session.look();
    expect(session.state.get()).toEqual({ phase: "signed-in", principal: operator, endsAt: nowSeconds + 60, hasEnded: false });
  });

  test("deletes a stored session that the daemon rejects", async () => {
    const { session, storage } = await openSession({ "GET /api/admin/session": () => refusal(401, "AUTH_REQUIRED") }, "0");
    await session.look();
    expect(session.state.get().phase).toBe("signed-out");
    expect(storage.items.size).toBe(0);
  });

  test("keeps the stored session while the daemon is unreachable", async () => {
    const { session, state, storage } = await openSession({}, "0");
    state.isAway = true;
    await session.look();
    expect(session.state.get()).toEqual({ phase: "looking" });
    expect(storage.items.size).toBe(1);
  });

  test("signs in with a key and stores only the expiry of the session", async () => {
    const reply = () => json({ authenticated: true, principal: operator, endsAt: nowSeconds + 3600 });
    const { session, storage, fetched } = await openSession({ "POST /api/admin/session": reply });
    await session.signIn("rtk_secret");
    expect(session.state.get()).toMatchObject({ phase: "signed-in", endsAt: nowSeconds + 3600 });
    expect(fetched.mock.calls.at(-1)?.[1]?.body).toBe('{"key":"rtk_secret"}');
    expect([...storage.items.values()]).toEqual([String(nowSeconds + 3600)]);
  });

  test("does not sign in when the daemon rejects the key", async () => {
    const { session, storage } = await openSession({ "POST /api/admin/session": () => refusal(401, "INVALID_KEY") });
    await expect(session.signIn("wrong")).rejects.toMatchObject({ code: "INVALID_KEY" });
    expect(session.state.get().phase).toBe("looking");
    expect(storage.items.size).toBe(0);
  });

  test("signs out only when the daemon has deleted the cookie", async () => {
    const { session, state, storage } = await openSession({ "GET /api/admin/session": shown }, "0");
    await session.look();
    await expect(session.signOut()).rejects.toThrow("NOT_FOUND");
    expect(session.state.get().phase).toBe("signed-in");
    state.replies["DELETE /api/admin/session"] = () => new Response(null, { status: 204 });
    await session.signOut();
    expect(session.state.get()).toEqual({ phase: "signed-out", hasLeft: true });
    expect(storage.items.size).toBe(0);
  });

  test("keeps the principal when the session has expired", async () => {
    const { session } = await openSession({ "GET /api/admin/session": shown }, "0");
    session.end();
    expect(session.state.get()).toEqual({ phase: "looking" });
    await session.look();
    session.end();
    expect(session.state.get()).toMatchObject({ phase: "signed-in", principal: operator, hasEnded: true });
  });
});

describe("RememberedSession", () => {
  test("stores sessions of several daemons on one origin separately", () => {
    const storage = new MemoryStorage();
    const [one, other] = ["/a/cpanel/", "/b/cpanel/"].map((panelPath) => new RememberedSession({ storage, panelPath }));
    one?.keep(nowSeconds + 60);
    expect([one?.isPossible, other?.isPossible]).toEqual([true, false]);
    one?.forget();
    expect(one?.isPossible).toBe(false);
  });

  test.each([
    [String(nowSeconds + 1), nowSeconds + 1],
    [String(nowSeconds - 1), undefined],
    ["0", undefined],
    ["nonsense", undefined],
  ])("reads the stored value %s as the expiry %s", (stored, endsAt) => {
    const storage = new MemoryStorage();
    storage.setItem("cpanel.session /cpanel/", stored);
    expect(new RememberedSession({ storage, panelPath: "/cpanel/" }).endsAt).toBe(endsAt);
  });

  test("reports that a session is possible when the browser blocks storage", () => {
    const storage = new MemoryStorage();
    storage.isBlocked = true;
    const remembered = new RememberedSession({ storage, panelPath: "/cpanel/" });
    remembered.keep(1);
    remembered.forget();
    expect([remembered.isPossible, remembered.endsAt]).toEqual([true, undefined]);
  });
});

const root = () => ({ dataset: {} as DOMStringMap });

describe("Theme", () => {
  test("applies the stored theme and stores a new choice", () => {
    const [storage, element] = [new MemoryStorage(), root()];
    storage.setItem("cpanel.theme", "dark");
    const theme = new Theme(storage, element);
    expect([theme.choice.get(), element.dataset["theme"]]).toEqual(["dark", "dark"]);
    theme.choose("light");
    expect([storage.getItem("cpanel.theme"), element.dataset["theme"]]).toEqual(["light", "light"]);
    theme.choose("system");
    expect([storage.getItem("cpanel.theme"), element.dataset["theme"]]).toEqual([null, undefined]);
  });

  test("uses the system's theme for an invalid stored value, and without storage", () => {
    const storage = new MemoryStorage();
    storage.setItem("cpanel.theme", "purple");
    expect(new Theme(storage, root()).choice.get()).toBe("system");
    storage.isBlocked = true;
    const element = root();
    const theme = new Theme(storage, element);
    theme.choose("dark");
    expect(element.dataset["theme"]).toBe("dark");
  });
});
