import { setTimeout as delay } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { PROGRAMS_OPTION, withServerOptions } from '../../sql/programs-role.js';
import { withSession } from '../../sql/session.js';

// A thread of the aggregator that does nothing but beat (heart.ts).

/** What a heart is told when it starts. */
export type HeartSettings = {
  readonly databaseUrl: string;
  readonly log: string;
  readonly memberId: string;
  readonly beatMs: number;
  /**
   * When the program gave its last sign, in nanoseconds of `process.hrtime`; shared memory. It
   * gives one when it has beaten by itself.
   */
  readonly lastSign: BigInt64Array;
  /** The heart stops when the program has given none for so long. */
  readonly silenceMaxMs: number;
};

/** Makes nobody a member: one that has left, or never came, has no row here. */
const BEAT = `
  UPDATE aggregator_members SET heartbeat_at = now() WHERE log = $1 AND member_id = $2`;

const NANOSECONDS_PER_MS = 1_000_000n;
/** A program that is not busy beats by itself, so that its heart has nothing to do. */
const LATE_BEATS = 1.5;
/** Others look after this many seconds, so a statement that takes longer is in vain. */
const LIMIT = { statementTimeoutMs: 5_000 };

const { databaseUrl, log, memberId, beatMs, lastSign, silenceMaxMs } =
  // What heart.ts gave.
  workerData as HeartSettings;

/** The program is late with its own beat, and not stuck. */
function isBeatMissing(): boolean {
  const silence = process.hrtime.bigint() - Atomics.load(lastSign, 0);
  const silenceMs = Number(silence / NANOSECONDS_PER_MS);
  return silenceMs > LATE_BEATS * beatMs && silenceMs < silenceMaxMs;
}

const programsUrl = withServerOptions(databaseUrl, PROGRAMS_OPTION);

for (;;) {
  // A session that is lost is opened again; the program says why PostgreSQL fails.
  await withSession(
    programsUrl,
    async (session) => {
      for (;;) {
        if (isBeatMissing()) await session.query(BEAT, [log, memberId]);
        await delay(beatMs);
      }
    },
    LIMIT,
  ).catch(() => undefined);
  await delay(beatMs);
}
