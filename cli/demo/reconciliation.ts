import pc from 'picocolors';
import { createClickHouse } from '../../clickhouse/client.js';
import { readEventTotals, type EventTotals } from './event-totals.js';
import { tableLines } from '../look/tables.js';

const VISIBLE_TIMEOUT_MS = 120_000;
const POLL_MS = 100;

/** Waits until every accepted event is either counted or known to be a duplicate. */
export async function waitUntilCounted(
  clickhouseUrl: string,
  accepted: number,
  onProgress: (done: number) => void,
): Promise<EventTotals> {
  const clickhouse = createClickHouse(clickhouseUrl);
  const deadline = Date.now() + VISIBLE_TIMEOUT_MS;
  try {
    for (;;) {
      const none = { counted: 0, duplicates: 0 };
      const totals = await readEventTotals(clickhouse).catch(() => none);
      const done = totals.counted + totals.duplicates;
      onProgress(done);
      if (done >= accepted || Date.now() > deadline) return totals;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    await clickhouse.close();
  }
}

/** Prints what became of the events. Returns whether accepted = counted + duplicates. */
export function printReconciliation(sent: number, accepted: number, totals: EventTotals): boolean {
  const difference = accepted - totals.counted - totals.duplicates;
  const rows = [
    ['sent', sent],
    ['accepted', accepted],
    ['duplicates', totals.duplicates],
    ['counted', totals.counted],
    ['difference', difference],
  ] as const;
  console.log(`\n${pc.bold('Reconciliation')}`);
  for (const line of tableLines(['', 'events'], rows)) console.log(line);
  return difference === 0;
}
