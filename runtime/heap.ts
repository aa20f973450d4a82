import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Where the heap may be smaller than this, V8 lets it grow less by itself. */
const LARGE_HEAP_BYTES = 2 * 1024 ** 3;

/**
 * How much larger than what lives in it the heap of this process becomes before V8 collects it, in
 * per cent, instead of up to 300: less memory, for more time spent on collecting
 * (docs/measurements/memory.md). Call it when a program starts.
 */
export function setHeapGrowth(percent: number): void {
  const { heap_size_limit: limit } = getHeapStatistics();
  if (limit >= LARGE_HEAP_BYTES) setFlagsFromString(`--heap-growing-percent=${percent}`);
}
