import { Worker } from 'node:worker_threads';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { HeartSettings } from './heart-thread.js';

/**
 * How long the program may compute without pause before its heart stops. A batch that is within
 * all bounds takes seconds, on a busy machine some tens; a program that never comes back must lose
 * its partitions, and its supervisor ends it after a minute, too.
 */
const SILENCE_MAX_MS = 60_000;
const BEAT_MS = 1_000;

/** The member of which log, and where PostgreSQL is. */
export type Beating = Pick<HeartSettings, 'databaseUrl' | 'log' | 'memberId'>;

/** Keeps a process in the list of members while it computes. */
export type Heart = {
  /** The program has just beaten by itself: the heart may beat for another while. */
  readonly sign: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Starts a thread that tells the other aggregators that this process lives, also while it folds a
 * batch for longer than they wait for a heartbeat. Without it two processes could take a partition
 * from each other for ever: each folds its batch, and loses it meanwhile.
 * @param thread the compiled `heart-thread.js`; threads do not read TypeScript.
 */
export function startHeart(
  { databaseUrl, log, memberId }: Beating,
  {
    thread,
    logger,
    silenceMaxMs = SILENCE_MAX_MS,
  }: { readonly thread: URL; readonly logger: Log; readonly silenceMaxMs?: number },
): Heart {
  const lastSign = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
  const sign = (): void => {
    Atomics.store(lastSign, 0, process.hrtime.bigint());
  };
  sign();
  const workerData: HeartSettings = {
    databaseUrl,
    log,
    memberId,
    lastSign,
    silenceMaxMs,
    beatMs: BEAT_MS,
  };
  const worker = new Worker(thread, { workerData });
  worker.unref();
  worker.on('error', (error) => {
    const message = 'the heart stopped; while a batch is folded others may take its partition';
    logger.warn({ error: messageOf(error) }, message);
  });
  return {
    sign,
    close: async () => {
      await worker.terminate();
    },
  };
}
