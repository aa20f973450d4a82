import { vi } from 'vitest';
import type { AppendRequest } from '../event-log.js';
import type { ProduceCluster } from '../kafka/produce-cluster.js';
import { Producer } from '../kafka/producer.js';
import { createSteeredBrokers } from './steered-brokers.js';

export const TIMEOUT_MS = 1_000;
export const INTERVAL_MS = 4;
export const RETRY_MS = 20;
/** Late records are looked for every 100 ms. */
export const LONGEST_MS = TIMEOUT_MS + 100;

export const record = (partition: number, value: string): AppendRequest => ({
  ...{ partition, key: '', value },
});

/** Delivers as `GroupCommit` does; what is added to the values before its turn goes with them. */
function appendTo(producer: Producer) {
  return (partition: number, values: readonly string[]): Promise<void> => {
    const appended = (async () => {
      await producer.turn(partition);
      await producer.deliver(values.map((value) => record(partition, value)));
    })();
    // The test looks at its failure later.
    appended.catch(() => undefined);
    return appended;
  };
}

/** A producer of brokers that the test steers. The test has set the clock. */
export function createSteeredProducer(replaced: Partial<ProduceCluster> = {}) {
  const { cluster, ...brokers } = createSteeredBrokers(replaced);
  const options = { produceTimeoutMs: TIMEOUT_MS, intervalMs: INTERVAL_MS, retryMs: RETRY_MS };
  const producer = new Producer(cluster, options);
  return { ...brokers, producer, append: appendTo(producer) };
}

export const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
/** Until a request is sent; each turn of the event loop takes a millisecond of this clock. */
export const soon = (): Promise<unknown> => pass(2);
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

export async function stateOf(work: Promise<void>): Promise<'open' | 'done' | 'failed'> {
  const settled = work.then(
    () => 'done' as const,
    () => 'failed' as const,
  );
  return Promise.race([settled, pass(0).then(() => 'open' as const)]);
}
