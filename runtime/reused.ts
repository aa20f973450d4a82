/**
 * Computes at most once in this time, for all who ask meanwhile. A failure is told to those who
 * wait for it, and the next one who asks computes again.
 */
export function reusedFor<T>(reusedMs: number, compute: () => Promise<T>): () => Promise<T> {
  let known: { readonly askedAt: number; readonly result: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    if (known !== null && now - known.askedAt < reusedMs) return known.result;
    const result = compute();
    known = { askedAt: now, result };
    result.catch(() => {
      if (known?.result === result) known = null;
    });
    return result;
  };
}
