import { setTimeout as delay } from 'node:timers/promises';
import { BULK_EVENTS_MAX } from '../../../../contract/records-of-events.js';
import { DependencyError } from '../../../../runtime/failure.js';
import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { World } from '../world/world.js';

/** A record that no client of ingest could have caused. */
export type MalformedRecordToWrite = {
  readonly partition: number;
  /** Told apart by their text: no two of a world are equal. */
  readonly value: string;
  /** Why it cannot be decoded. */
  readonly reason: string;
};

/** A record of one event (`contract/usage-event.ts`) with some members replaced. */
function recordWith(members: object): string {
  const event = ['id', 'api.request', 'customer', null, 'web', 0, 1, {}];
  const whole = { v: 1, t: 'tenant_a', e: 'env_a_production', r: 0, events: [event] };
  return JSON.stringify({ ...whole, ...members });
}

/** One more than a record may have, each of which could be read. */
function tooManyEvents(mark: number): readonly unknown[] {
  return Array.from({ length: BULK_EVENTS_MAX + 1 }, (_, index) => {
    const id = `too-many-${mark}-${index}`;
    return [id, 'api.request', 'customer', null, 'web', 0, 1, {}];
  });
}

/** One record of each kind that cannot be decoded, with a mark that tells it apart. */
export function malformedOfEachKind(
  mark: number,
  partitions: number,
): readonly MalformedRecordToWrite[] {
  const ofKinds = [
    ['not_json', `{"v":1,"t":"tenant_a" and no end ${mark}`],
    ['unknown_version', recordWith({ v: 99, mark })],
    ['malformed_record', recordWith({ events: `none ${mark}` })],
    ['malformed_event', recordWith({ events: [[`id-${mark}`, 'api.request']] })],
    ['record_too_large', recordWith({ events: tooManyEvents(mark) })],
  ] as const;
  return ofKinds.map(([reason, value], index) => ({
    partition: (mark + index) % partitions,
    value,
    reason,
  }));
}

/** A malformed record of a random run. */
export type PlannedMalformed = { readonly atMs: number; readonly record: MalformedRecordToWrite };

const PLANNED_MAX = 6;

/** A few malformed records of any kind, at any time of the load and in any partition. */
export function planMalformed(
  random: SeededRandom,
  { lastsMs, partitions }: { readonly lastsMs: number; readonly partitions: number },
): readonly PlannedMalformed[] {
  return Array.from({ length: random.between(0, PLANNED_MAX) }, (_, mark) => ({
    atMs: random.below(lastsMs),
    record: random.pick(malformedOfEachKind(mark, partitions)),
  }));
}

const REPEAT_PAUSE_MS = 200;
const ATTEMPTS = 300;

async function writeUntilAcknowledged(world: World, record: MalformedRecordToWrite): Promise<void> {
  const { partition, value, reason } = record;
  const written = { reason, acknowledged: 0, attempts: 0 };
  world.ledger.malformed.set(value, written);
  while (written.acknowledged === 0) {
    written.attempts += 1;
    try {
      const writer = await world.logWriter();
      await writer.append([{ partition, key: 'malformed', value }]);
      written.acknowledged += 1;
    } catch (error) {
      // Its store is away: like a client it does not know whether the record is in the log.
      if (!(error instanceof DependencyError) || written.attempts === ATTEMPTS) throw error;
      await delay(REPEAT_PAUSE_MS);
    }
  }
}

/** Writes records straight into the log, each at its time and until it is acknowledged. */
export async function writeMalformed(
  world: World,
  planned: readonly PlannedMalformed[],
): Promise<void> {
  await Promise.all(
    planned.map(async ({ atMs, record }) => {
      await delay(atMs);
      await writeUntilAcknowledged(world, record);
    }),
  );
}
