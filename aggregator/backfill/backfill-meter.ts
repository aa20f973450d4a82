import { randomUUID } from 'node:crypto';
import type { ClickHouse } from '../../clickhouse/client.js';
import { AGGREGATIONS } from '../../contract/aggregation.js';
import { compileValueRule, type ValueRule } from '../../contract/event-value.js';
import { addTally, createUsageCell } from '../../contract/usage-cell.js';
import type { UsageMinute } from '../../contract/usage-minute.js';
import { encodeDeltas } from '../fold/encode-rows.js';
import { hashText } from '../../runtime/hash-text.js';
import { BACKFILL_INSERT } from '../write/insert-statements.js';
import type { BackfillAttempt, BackfillResult, BackfillWatch } from './backfill-jobs.js';
import { countPage } from './count-page.js';
import { pagesOf, type EventPage } from './event-pages.js';
import { readTallies, type PlacedTally } from './read-tallies.js';

/** Events read at a time: about a second of work, so that no request reaches its time-out. */
const PAGE_EVENTS = 250_000;
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
  { meterId, generation }: BackfillAttempt,
  block: Block,
): Promise<void> {
  if (block.cells.size === 0) return;
  await clickhouse.insertText({
    query: BACKFILL_INSERT,
    body: encodeDeltas([...block.cells.values()]).text,
    queryId: `mb:backfill:${meterId}:${generation}:${randomUUID()}`,
  });
}

type OnePage = {
  readonly rule: ValueRule;
  readonly page: EventPage;
  readonly signal: AbortSignal;
};

/** Applies a meter whose values are read from texts to one page; returns how many matched. */
async function addUpPage(
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

/** Applies the meter to the events of one page; returns how many matched. */
function backfillPage(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  of: OnePage,
): Promise<number> {
  return AGGREGATIONS[of.rule.type].counts === 'event'
    ? countPage(clickhouse, attempt, of.page)
    : addUpPage(clickhouse, attempt, of);
}

/**
 * Applies a meter to the stored events below its start offsets, under the attempt's own generation,
 * with bounded memory and bounded requests. Nobody reads these rows until the attempt is completed,
 * and the rows of a failed attempt are never read, so an insert of unknown outcome does no harm.
 * @throws DependencyError when ClickHouse fails or an outcome is unknown; the reason of the signal
 * when it aborts; TypeError for a meter whose rule does not compile.
 */
export async function backfillMeter(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  { progress, signal, pageEvents = PAGE_EVENTS }: BackfillWatch & { readonly pageEvents?: number },
): Promise<BackfillResult> {
  const rule = compileValueRule(attempt.aggregation, hashText);
  let result: BackfillResult = { eventsScanned: 0, eventsMatched: 0 };
  for await (const page of pagesOf({ clickhouse, pageEvents }, attempt)) {
    signal.throwIfAborted();
    const matched = await backfillPage(clickhouse, attempt, { rule, page, signal });
    result = {
      eventsScanned: result.eventsScanned + page.events,
      eventsMatched: result.eventsMatched + matched,
    };
    progress(attempt, result);
  }
  return result;
}
