/** How single events are written: by the producer of the product first, beside what is compared. */
export const WAYS = {
  'product, one request a broker': null,
  'node-rdkafka, merged, linger 4 ms': { isMerged: true, lingerMs: 4, turnMs: 0 },
  'node-rdkafka, merged in turns of 4 ms': { isMerged: true, lingerMs: 0, turnMs: 4 },
  'node-rdkafka, merged in turns of 8 ms': { isMerged: true, lingerMs: 0, turnMs: 8 },
  'node-rdkafka, not merged, linger 4 ms': { isMerged: false, lingerMs: 4, turnMs: 0 },
} as const;
export type Way = keyof typeof WAYS;

/** What a process that writes is told. */
export type Stretch = { readonly perSecond: number; readonly seconds: number };
/** What it answers. */
export type Produced = {
  readonly appended: number;
  readonly failed: number;
  readonly cpuSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};
