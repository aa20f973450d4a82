import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { integerColumn } from '../../../../sql/columns.js';
import { CALM_RESTARTS_MAX, type Bench } from '../scenarios/scenario.js';
import { World } from './world.js';
import { withPatientSession } from '../../../harness/patient-session.js';

const OWNED_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

const countRow = z.object({ owned: integerColumn });

async function ownedPartitions(databaseUrl: string): Promise<number> {
  return withPatientSession(databaseUrl, async (session) => {
    const result = await session.query(
      'SELECT count(*)::text AS owned FROM aggregator_checkpoints WHERE owner IS NOT NULL',
    );
    return countRow.parse(result.rows[0]).owned;
  });
}

/**
 * Whether a build starts on engines that are all there: ingest answers, an aggregator takes the
 * partition, and both stay alive. Returns what is wrong, or null.
 */
export async function startProblem({ engines, log, buildRoot }: Bench): Promise<string | null> {
  const size = { partitions: 1, flushDelayMs: 50, batchEventsMax: 50_000 };
  const world = await World.make({ engines, log, buildRoot, ...size });
  try {
    await world.startIngest();
    if (!(await world.isIngestUp())) return `ingest does not answer: ${world.evidence}`;
    world.startAggregator();
    const deadline = Date.now() + OWNED_TIMEOUT_MS;
    for (;;) {
      const [crash] = world.unexpectedEnds;
      if (crash !== undefined) return crash;
      if (world.restarts > CALM_RESTARTS_MAX) return `a program could not start: ${world.evidence}`;
      if ((await ownedPartitions(world.stores.databaseUrl)) === 1) return null;
      if (Date.now() > deadline) return 'no aggregator took the partition';
      await delay(POLL_MS);
    }
  } finally {
    await world.close();
  }
}
