/**
 * Does something at most once in so many milliseconds, and nothing when it is asked again sooner:
 * an outage is said now and then, and not for each request that it fails.
 */
export function createSeldom(everyMs: number): (work: () => void) => void {
  let doneAtMs = Number.NEGATIVE_INFINITY;
  return (work) => {
    const nowMs = performance.now();
    if (nowMs - doneAtMs < everyMs) return;
    doneAtMs = nowMs;
    work();
  };
}
