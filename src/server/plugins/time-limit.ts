/** How long a plugin may take to start or to end; an instance that does not start in time is left out. */
export const lifeTimeLimitMs = 30_000;
/** How long any other hook may take. */
export const hookTimeLimitMs = 10_000;

/** Waits for what a hook returned, at most so long; it goes on after that, but nobody listens any more. */
export async function withinTimeLimit<Value>(work: Value | Promise<Value>, limitMs: number, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
