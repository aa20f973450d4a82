import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import {
  createExpiredMonths,
  readRawEventsBegin,
} from '../../../aggregator/retention/expired-months.js';
import { turnRetention } from '../../../aggregator/retention/turn-retention.js';
import { createStoredMonths } from '../../../aggregator/retention/stored-months.js';
import {
  createMeter,
  environment,
  eventOf,
  WAIT,
} from '../../../aggregator/testing/aggregator-world.js';
import { DAY_MS, formatInstant } from '../../../contract/instant.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { createLog } from '../../../runtime/log.js';
import { integerColumn } from '../../../sql/columns.js';
import { EVENT_REMOVAL_LOCK, withAdvisoryLock, withSession } from '../../../sql/session.js';
import { withoutOwners } from '../../../clickhouse/guard-copies.js';
import {
  isAllCounted,
  sendOf,
  test,
  usageByCustomer,
  type ErasureWorld,
} from '../testing/erasure-world.js';

const run = sql.type(z.unknown());
const quiet = createLog('test', 'silent');
const signal = new AbortController().signal;

const today = new Date();
const MONTH = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 4);

/** 20 events of acme and 30 of bolt, which the log appended four months ago. */
async function sendOld(world: ErasureWorld): Promise<void> {
  await createMeter(world.database, '[]');
  const events = Array.from({ length: 50 }, (_none, index) =>
    eventOf(`old-${index}`, { externalCustomerId: index < 20 ? 'acme' : 'bolt' }),
  );
  await sendOf(world, environment, events);
  await ownerOf(world.database).query(run`
    UPDATE event_log_batches SET appended_at = ${formatInstant(MONTH + DAY_MS)}::timestamptz`);
  const aggregator = await world.startAggregator();
  await vi.waitFor(async () => expect(await isAllCounted(world)).toBe(true), WAIT);
  await aggregator.close();
}

function turn({ database, clickhouse, reader: log }: ErasureWorld, removalDelaySeconds = 0) {
  const terms = { retentionDays: 35, removalDelaySeconds };
  return turnRetention({ database, clickhouse, log, logger: quiet, ...terms }, Date.now(), signal);
}

const countRow = z.object({ events: integerColumn });

/** What both books say, and the customers of which events or usage are left. */
async function booksOf(world: ErasureWorld) {
  const { events: erased } = await ownerOf(world.database).one(
    sql.type(countRow)`SELECT coalesce(sum(events), 0) AS events FROM erased_events`,
  );
  const [expired] = await world.clickhouse.query(
    'SELECT sum(event_count) AS events FROM expired_events_v1 FINAL',
    {},
    countRow,
  );
  const left = await usageByCustomer(world);
  return { erased, expired: expired?.events, left };
}

const customer = (name: string) => `${environment.tenantId} e:${name}`;

describe('an erasure beside the retention of raw events', () => {
  test('counts an event that it removed as erased, though a turn that was cut short had counted it', async ({
    erasing: world,
  }) => {
    await sendOld(world);
    await createStoredMonths(world.clickhouse).count(MONTH);
    await world.erase('acme');
    await turn(world);
    expect(await booksOf(world)).toEqual({
      erased: 20,
      expired: 30,
      left: [{ customer: customer('bolt'), events: 0, usage: 30 }],
    });
  });

  test('leaves events that have expired to the other book, and removes them', async ({
    erasing: world,
  }) => {
    await sendOld(world);
    await turn(world, 600);
    await world.erase('acme');
    const bolt = { customer: customer('bolt'), events: 30, usage: 30 };
    expect(await booksOf(world)).toEqual({ erased: 0, expired: 50, left: [bolt] });
    await turn(world);
    expect(await booksOf(world)).toMatchObject({ erased: 0, expired: 50 });
  });

  test('lets no month expire while it runs, nor when it was cut short', async ({
    erasing: world,
  }) => {
    await sendOld(world);
    await withAdvisoryLock(world.database.url, EVENT_REMOVAL_LOCK, () => turn(world));
    expect(await readRawEventsBegin(world.database)).toBeNull();
    // Cut short after it has noted what goes.
    const cut = vi.spyOn(world.clickhouse, 'command').mockRejectedValue(new Error('cut short'));
    await expect(world.erase('acme')).rejects.toThrow('cut short');
    cut.mockRestore();
    expect(await createExpiredMonths(world.database).state()).toMatchObject({ isErasing: true });
    await turn(world);
    expect(await readRawEventsBegin(world.database)).toBeNull();
    // A copy of rows could bring back what ClickHouse is still removing.
    const { clickhouse } = world;
    const copying = withSession(world.database.url, (session) =>
      withoutOwners({ session, clickhouse }, 'a backup', () => Promise.resolve()),
    );
    await expect(copying).rejects.toThrow('run `minutebook customers erase` again');
    await world.erase('acme');
    await turn(world);
    expect(await booksOf(world)).toMatchObject({ erased: 20, expired: 30 });
  });
});
