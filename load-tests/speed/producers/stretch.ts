/** What a process that writes single events is told. */
export type Stretch = { readonly perSecond: number; readonly seconds: number };
/** What it answers. */
export type Produced = {
  readonly appended: number;
  readonly failed: number;
  readonly cpuSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};
