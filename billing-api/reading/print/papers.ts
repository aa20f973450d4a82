import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import { codeOf } from '../../../runtime/failure.js';
import { FairQueue, type FairQueueLimits } from '../../../runtime/fair-queue.js';
import { Refusal } from '../../records/refusal.js';
import { bytesOfPage } from './printed-page-bytes.js';
import type { PrintedPage } from './printed-invoice.js';

const THREADS_MAX = 2;
/** Of a tenant one after the other, so that none waits for all papers of another. */
const TURNS: FairQueueLimits = {
  runningMax: THREADS_MAX,
  runningPerKeyMax: 1,
  waitingPerKeyMax: 8,
  waitMsMax: 60_000,
};

export type PaperLimits = {
  /** What takes longer is ended. */
  readonly msMax: number;
  /** The heap of one thread. */
  readonly heapMbMax: number;
  /** Of papers that are kept. */
  readonly keptBytesMax: number;
};

/** A thousand lines with names of 250 letters in many scripts take 7 s of a core, and 200 MB. */
const LIMITS: PaperLimits = { msMax: 30_000, heapMbMax: 512, keptBytesMax: 32 * 1024 * 1024 };
/** Threads that have nothing to do end after that; starting one takes about half a second. */
const IDLE_MS = 60_000;
/** Threads of papers stand behind the one that answers requests. */
const NICE = 5;

const TOO_COSTLY = new Refusal(
  'validation_error',
  'the paper needs more time or memory than one request may take: read the lines as CSV instead (/v1/invoices/{id}/lines.csv)',
);

/** Makes the PDF of a page for a tenant, unless the signal says that nobody waits for it. */
export type Papers = (
  tenantId: string,
  page: PrintedPage,
  signal: AbortSignal,
) => Promise<Buffer | Refusal>;

/** A thread that makes a page as bytes into a PDF, until it has or is ended. */
function createThreads(thread: URL, { msMax, heapMbMax }: PaperLimits) {
  const threads = new Piscina<Uint8Array, Uint8Array>({
    filename: thread.href,
    name: 'makePaper',
    minThreads: 0,
    maxThreads: THREADS_MAX,
    idleTimeout: IDLE_MS,
    niceIncrement: NICE,
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    // A thread without work waits for a message, as others do.
    atomics: 'disabled',
  });
  return async (page: Buffer, left: AbortSignal): Promise<Buffer | Refusal> => {
    const late = AbortSignal.timeout(msMax);
    try {
      // A signal that aborts ends the thread, and another one is started when it is needed.
      const bytes = await threads.run(page, { signal: AbortSignal.any([left, late]) });
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      left.throwIfAborted();
      if (late.aborted || codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') return TOO_COSTLY;
      throw error;
    }
  };
}

/**
 * Makes papers in threads beside the event loop, with bounds on time, memory and number; tenants
 * take turns. A paper is kept by everything that is printed on it, so that the same one is not made
 * again, and one that has changed, such as a draft or an invoice that was paid, is.
 * @param thread the compiled `paper-thread.js`; threads do not read TypeScript.
 */
export function createPapers(thread: URL, limits: PaperLimits = LIMITS): Papers {
  const make = createThreads(thread, limits);
  const queue = new FairQueue(TURNS);
  const kept = new LRUCache<string, Buffer>({
    maxSize: limits.keptBytesMax,
    sizeCalculation: (paper) => paper.byteLength,
  });
  return async (tenantId, page, signal) => {
    const bytes = await bytesOfPage(page);
    const key = `${tenantId} ${createHash('sha256').update(bytes).digest('hex')}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    return queue.run(
      tenantId,
      async () => {
        // The one before in the queue may have been the same.
        const paper = kept.get(key) ?? (await make(bytes, signal));
        if (Buffer.isBuffer(paper)) kept.set(key, paper);
        return paper;
      },
      signal,
    );
  };
}
