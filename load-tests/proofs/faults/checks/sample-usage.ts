import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { DependencyError } from '../../../../runtime/failure.js';
import { integerColumn } from '../../../../sql/columns.js';
import { STORED_AS } from '../load/usage-meter.js';
import type { World } from '../world/world.js';
import { readGenerations } from './read-stores.js';

const SAMPLE_MS = 200;

/** A reader that polls usage while faults happen. */
export type Sampler = {
  /** Ends it; returns the wrong totals that it saw, and how often it could read. */
  stop(): Promise<{ readonly problems: readonly string[]; readonly samples: number }>;
};

async function sample(world: World, problems: string[]): Promise<void> {
  const generations = await readGenerations(world);
  for (const meter of world.meters.filter(({ aggregation }) => aggregation === 'COUNT')) {
    const [row] = await world.clickhouse.query(
      `SELECT ${STORED_AS.COUNT} AS found FROM usage_minute_v1
       WHERE meter_id = {meter:String} AND has({generations:Array(UInt64)}, generation)`,
      { meter: meter.meterId, generations: generations.get(meter.meterId) ?? [] },
      z.object({ found: integerColumn }),
    );
    // Read after the usage: what was sent meanwhile can only raise it.
    const sent = world.ledger.sentTo(meter);
    const found = row?.found ?? 0;
    if (found > sent) problems.push(`seen too much: ${meter.meterId} ${found} of ${sent} sent`);
  }
}

/** Reads usage totals again and again: they may never exceed what has been sent. */
export function startSampler(world: World): Sampler {
  const stop = new AbortController();
  const problems: string[] = [];
  let samples = 0;
  const sampling = (async () => {
    while (!stop.signal.aborted) {
      try {
        await sample(world, problems);
        samples += 1;
      } catch (error) {
        // An engine is away: nothing can be seen. Anything else is a mistake of ours.
        if (!(error instanceof DependencyError)) throw error;
      }
      await delay(SAMPLE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  // Whoever stops it hears of its failure; until then it must not end the process by itself.
  sampling.catch(() => undefined);
  return {
    stop: async () => {
      stop.abort();
      await sampling;
      if (samples === 0) problems.push('reader: it never saw any usage');
      return { problems: problems.slice(0, 3), samples };
    },
  };
}
