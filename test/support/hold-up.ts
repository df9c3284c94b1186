/** Keeps the event loop of this process busy, from before the timers that are due: nothing has been read when they come. */
export async function holdUp(ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** The same again and again while something is done. */
export async function whileHeldUp<Value>(ms: number, work: () => Promise<Value>): Promise<Value> {
  const timer = setInterval(() => void holdUp(ms), 10);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
