import { setFlagsFromString } from 'node:v8';

/**
 * How much larger than what lives in it the heap of this process may become before V8 collects it,
 * in per cent; V8 itself allows up to 300. Less memory, for more time spent on collecting
 * (docs/measurements/memory.md). Call it when a program starts.
 */
export function limitHeapGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
