import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.mjs";

const openTimeoutMs = 30_000;
const pollEveryMs = 50;

/**
 * Prepares the inspector of a Node.js process. Start the process with `flags`. `read` returns its retained memory in bytes: the JavaScript
 * heap and the memory outside it, which includes all buffers, directly after a garbage collection.
 */
export async function prepareInspector() {
  const port = await freePort();
  return { flags: [`--inspect-port=127.0.0.1:${port}`], read: (pid) => readRetainedBytes(pid, port) };
}

async function readRetainedBytes(pid, port) {
  // Node.js opens the inspector at this signal.
  process.kill(pid, "SIGUSR1");
  const socket = new WebSocket(await debuggerUrl(port));
  await once(socket, "open");
  try {
    await call(socket, 1, "HeapProfiler.collectGarbage");
    const { result } = await call(socket, 2, "Runtime.evaluate", { expression: "process.memoryUsage()", returnByValue: true });
    // The value `external` includes `arrayBuffers`.
    return result.value.heapUsed + result.value.external;
  } finally {
    socket.close();
  }
}

async function debuggerUrl(port) {
  for (const deadlineMs = performance.now() + openTimeoutMs; ; await delay(pollEveryMs)) {
    try {
      const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
      return target.webSocketDebuggerUrl;
    } catch (error) {
      if (performance.now() > deadlineMs) throw new Error("the inspector does not open", { cause: error });
    }
  }
}

async function call(socket, id, method, params = {}) {
  const answered = once(socket, "message");
  socket.send(JSON.stringify({ id, method, params }));
  const [{ data }] = await answered;
  const answer = JSON.parse(data);
  if (answer.id !== id || answer.error) throw new Error(`${method} failed: ${data}`);
  return answer.result;
}
