import type { ClickHouse } from '../../clickhouse/client.js';
import { AGGREGATIONS } from '../../contract/aggregation.js';
import type { ValueRule } from '../../contract/event-value.js';
import { addTally, createUsageCell } from '../../contract/usage-cell.js';
import type { UsageMinute } from '../../contract/usage-minute.js';
import { encodeDeltas } from '../fold/encode-rows.js';
import { BACKFILL_INSERT } from '../write/insert-statements.js';
import type { BackfillAttempt } from './backfill-jobs.js';
import type { EventPage } from './event-pages.js';
import { backfillQueryId } from './matching-events.js';
import { readTallies, type PlacedTally } from './read-tallies.js';

/** Memory for the cells of one insert, roughly. The table merges rows of one minute. */
const BLOCK_BYTES_MAX = 24 * 1024 * 1024;
const CELL_BYTES = 400;
const HASH_BYTES = 100;

/** Cells that are not written yet. */
type Block = { readonly cells: Map<string, UsageMinute>; bytes: number };

function emptyBlock(): Block {
  return { cells: new Map(), bytes: 0 };
}

function addToBlock(
  block: Block,
  of: { readonly attempt: BackfillAttempt; readonly rule: ValueRule },
  placed: PlacedTally,
): void {
  const { attempt: meter, rule } = of;
  const { customerKey, minuteMs, source, groupKey, tally } = placed;
  const lengths = `${customerKey.length}|${source.length}`;
  const key = `${minuteMs}|${lengths}|${customerKey}${source}${groupKey}`;
  let delta = block.cells.get(key);
  if (delta === undefined) {
    const cell = createUsageCell(rule.type);
    delta = { meter, customerKey, minuteMs, source, groupKey, cell };
    block.cells.set(key, delta);
    block.bytes += CELL_BYTES + 4 * key.length;
  }
  addTally(delta.cell, rule, tally);
  if (AGGREGATIONS[rule.type].values.includes('uniques')) block.bytes += HASH_BYTES;
}

async function writeBlock(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  block: Block,
): Promise<void> {
  if (block.cells.size === 0) return;
  await clickhouse.insertText({
    query: BACKFILL_INSERT,
    body: [encodeDeltas([...block.cells.values()]).bytes],
    queryId: backfillQueryId(attempt),
  });
}

/** A page of stored events, and how the meter reads their values. */
export type OnePage = {
  readonly rule: ValueRule;
  readonly page: EventPage;
  readonly signal: AbortSignal;
};

/**
 * Applies a meter whose values are read from texts to one page.
 * @returns how many events matched.
 * @throws DependencyError when ClickHouse fails, or when it is unknown whether rows were written;
 * the reason that the signal gives when it ends the work.
 */
export async function addUpPage(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  of: OnePage,
): Promise<number> {
  let eventsMatched = 0;
  let block = emptyBlock();
  for await (const tallies of readTallies(clickhouse, attempt, of)) {
    for (const placed of tallies) {
      addToBlock(block, { attempt, rule: of.rule }, placed);
      eventsMatched += placed.tally.count;
    }
    if (block.bytes < BLOCK_BYTES_MAX) continue;
    of.signal.throwIfAborted();
    await writeBlock(clickhouse, attempt, block);
    block = emptyBlock();
  }
  of.signal.throwIfAborted();
  await writeBlock(clickhouse, attempt, block);
  return eventsMatched;
}
