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
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new Error(`${what} did not end within ${limitMs / 1000} s`));
    }, limitMs);
    Promise.resolve(work).then(
      (value) => {
        clearTimeout(timer);
        if (isLate) onLate(value);
        else resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is what the work was rejected with
        reject(error);
      },
    );
  });
}

function ignore(): void {}
