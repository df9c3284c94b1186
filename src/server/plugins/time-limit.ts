/** How long a plugin may take to start or to end; an instance that does not start in time is left out. */
export const lifeTimeLimitMs = 30_000;
/** How long any other hook may take. */
export const hookTimeLimitMs = 10_000;

/**
 * Waits for what a plugin returned, which may never settle: rejects after `limitMs`. It goes on after that; what it comes to too late is
 * given to `onLate`, failures aside.
 */
export function withinTimeLimit<Value>(
  work: Value | PromiseLike<Value>,
  limitMs: number,
  what: string,
  onLate: (value: Value) => void = ignore,
): Promise<Value> {
  const settling = Promise.resolve(work);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      settling.then(onLate, ignore);
      reject(new Error(`${what} did not end within ${limitMs / 1000} s`));
    }, limitMs);
    settling.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function ignore(): void {}
