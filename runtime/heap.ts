import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Node (V8) collects garbage often enough by itself when it is given less memory than this. */
const LARGE_HEAP_BYTES = 2 * 1024 ** 3;

/**
 * Sets how much garbage may pile up in this process before it is collected, in per cent of the
 * memory that is in use; Node allows up to 300. A smaller number takes less memory and more CPU
 * time (docs/internals/measurements.md). Call it when a program starts.
 */
export function setHeapGrowth(percent: number): void {
  const { heap_size_limit: limit } = getHeapStatistics();
  if (limit >= LARGE_HEAP_BYTES) setFlagsFromString(`--heap-growing-percent=${percent}`);
}
