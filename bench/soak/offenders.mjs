/** Workers that cause faults, each in another way. Each request causes the fault, except a request for `/ok`. */
const bodies = {
  "loops-for-ever": "for (;;);",
  "blocks-in-a-wait": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
  "pushes-without-end": "const list = []; for (;;) list.push({ value: list.length });",
  "fills-arrays": "const all = []; for (;;) all.push(new Array(1e6).fill(0.5));",
  "grows-a-map": "const map = new Map(); for (let key = 0; ; key += 1) map.set(key, `value ${key}`);",
  "hoards-buffers": "const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));",
  "grows-wasm-memory":
    "const all = []; for (;;) { const memory = new WebAssembly.Memory({ initial: 256 }); new Uint8Array(memory.buffer).fill(1); all.push(memory); }",
  exits: "process.exit(1);",
  "kills-itself": 'process.kill(process.pid, "SIGKILL");',
  "closes-descriptors":
    'const { closeSync } = await import("node:fs"); for (let fd = 3; fd < 40; fd += 1) try { closeSync(fd); } catch {} return new Response("closed");',
  "rejects-unheard": 'void Promise.reject(new Error("nobody listens")); return new Response("ok");',
  "throws-in-a-timer": 'setTimeout(() => { throw new Error("from a timer"); }); return new Response("ok");',
  "starts-10000-promises":
    'for (let index = 0; index < 10000; index += 1) void new Promise((resolve) => setTimeout(resolve, 500)); return new Response("ok");',
  "floods-the-console":
    'for (let line = 0; line < 20000; line += 1) console.log("flood", line, "x".repeat(80)); return new Response("ok");',
  "floods-stderr": 'for (let line = 0; line < 2000; line += 1) process.stderr.write(`${"e".repeat(500)}\\n`); return new Response("ok");',
  "sends-20000-headers":
    'const headers = new Headers(); for (let index = 0; index < 20000; index += 1) headers.append(`x-${index}`, "v"); return new Response("ok", { headers });',
  "reads-what-is-not-its-own":
    'const { readFileSync, readdirSync } = await import("node:fs"); for (const file of ["/proc/self/environ", "/proc/self/maps", "/proc/1/environ", "/etc/shadow", "../../state/keys.db", "../../../state/keys.db"]) try { readFileSync(file); } catch {} try { for (const pid of readdirSync("/proc")) readFileSync(`/proc/${pid}/cmdline`); } catch {} return new Response("tried");',
  throws: 'throw new Error("as it does");',
  "answers-nonsense": "return { status: 9999 };",
  "never-answers": "await new Promise(() => {});",
  "never-reads": 'return new Response("not read");',
  "streams-without-end": "return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65536)) }));",
  "breaks-off":
    'let turn = 0; return new Response(new ReadableStream({ pull(controller) { turn += 1; if (turn > 3) controller.error(new Error("broken off")); else controller.enqueue(new Uint8Array(1000)); } }));',
};

/**
 * Short time limits and little memory, so that each worker has many isolates within a few minutes. An isolate without requests stops after
 * 20 s.
 */
const manifest = { timeout: "2s", memory: "64mb", ttl: "20s" };

export const offenderNames = Object.keys(bodies);

export function offenders() {
  return Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, { files: { "index.js": sourceOf(body) }, manifest }]));
}

function sourceOf(body) {
  return `export default { async fetch(request) {
  if (new URL(request.url).pathname === "/ok") return new Response("ok");
  ${body}
} };`;
}
