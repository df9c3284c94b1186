/**
 * Ends this process immediately with SIGKILL, for programs whose parent has received the result. `process.exit` waits for the threads of V8.
 * A thread that needs a garbage collection waits for the main thread, and the process then never exits (nodejs/node issue 54918).
 */
export function endProcess(): void {
  process.kill(process.pid, "SIGKILL");
}
