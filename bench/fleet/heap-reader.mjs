// Loaded into the daemon with `node --expose-gc --import`. At SIGUSR2, collects garbage and prints the size of the heap in bytes.
process.on("SIGUSR2", () => {
  globalThis.gc();
  process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
