/** Blocks the event loop of this process. The blocking starts before the due timers, so that these timers run before any read. */
export async function holdUp(ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Blocks the event loop repeatedly while `work` runs. */
export async function whileHeldUp<Value>(ms: number, work: () => Promise<Value>): Promise<Value> {
  const timer = setInterval(() => void holdUp(ms), 10);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
