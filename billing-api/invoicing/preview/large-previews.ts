import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { InstantMs } from '../../../contract/instant.js';
import { QueryTooLarge } from '../../../clickhouse/request-queries.js';
import { codeOf, DependencyError } from '../../../runtime/failure.js';
import { FairQueue, type FairQueueLimits } from '../../../runtime/fair-queue.js';
import type { Occasion } from '../../records/occasion.js';
import { Refusal, type RefusalCode, type RefusalDetails } from '../../records/refusal.js';
import type { PreviewDto, PreviewInvoiceBody } from '../../documents/answer/invoice-dto.js';

/** What a thread is told when it starts: one preview, and where its records and usage are. */
export type PreviewSettings = {
  readonly databaseUrl: string;
  readonly clickHouseUrl: string;
  readonly occasion: Occasion;
  readonly body: PreviewInvoiceBody;
  readonly dataUntil: InstantMs | null;
};

/** What a thread answers with. */
export type PreviewOutcome =
  | { readonly kind: 'answer'; readonly answer: PreviewDto }
  | {
      readonly kind: 'refusal';
      readonly code: RefusalCode;
      readonly message: string;
      readonly details: RefusalDetails | null;
    }
  | { readonly kind: 'too-large' }
  | ({ readonly kind: 'outage'; readonly message: string } & Pick<
      DependencyError,
      'dependency' | 'isRetryable'
    >);

/** One after the other, so that their memory is that of one; tenants take turns. */
const LIMITS: FairQueueLimits = {
  runningMax: 1,
  runningPerKeyMax: 1,
  waitingPerKeyMax: 8,
  waitMsMax: 60_000,
};
/** Of the buckets and what is computed of them: two million take about 0.7 GB. */
const HEAP_MB_MAX = 2_048;

const TOO_MUCH_MEMORY = new Refusal(
  'validation_error',
  'the lines have more buckets and groups than fit in the memory of one preview; take a shorter period',
);

/** Previews that would keep the event loop from everybody else for too long. */
export type LargePreviews = (
  preview: Pick<PreviewSettings, 'occasion' | 'body' | 'dataUntil'>,
  signal: AbortSignal,
) => Promise<PreviewDto | Refusal>;

/** @throws what the thread could not answer, as if it had been computed here. */
function resultOf(outcome: PreviewOutcome): PreviewDto | Refusal {
  switch (outcome.kind) {
    case 'answer':
      return outcome.answer;
    case 'refusal':
      return new Refusal(outcome.code, outcome.message, outcome.details);
    case 'too-large':
      throw new QueryTooLarge({ cause: null });
    case 'outage':
      throw new DependencyError(outcome.message, outcome);
  }
}

/** Runs a thread until it answers, fails, or nobody waits for it any more. */
function runThread(
  thread: URL,
  options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'>,
  signal: AbortSignal,
): Promise<PreviewDto | Refusal> {
  const worker = new Worker(thread, options);
  const answered = new Promise<PreviewDto | Refusal>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    worker.once('message', (outcome: PreviewOutcome) => {
      try {
        resolve(resultOf(outcome));
      } catch (error) {
        reject(error as Error);
      }
    });
    worker.once('error', (error) => {
      if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') resolve(TOO_MUCH_MEMORY);
      else reject(error);
    });
    worker.once('exit', () => reject(new Error('the thread of a preview ended without an answer')));
  });
  // Ends its statements, too: their connections close with it.
  return answered.finally(() => worker.terminate());
}

/**
 * Computes large previews each in a thread of its own, which has connections of its own, so that
 * the event loop goes on, and their memory is bounded and given back whole.
 * @param thread the compiled `preview-thread.js`; threads do not read TypeScript.
 */
export function createLargePreviews(
  thread: URL,
  urls: Pick<PreviewSettings, 'databaseUrl' | 'clickHouseUrl'>,
  maxOldGenerationSizeMb = HEAP_MB_MAX,
): LargePreviews {
  const queue = new FairQueue(LIMITS);
  return (preview, signal) => {
    const workerData: PreviewSettings = { ...urls, ...preview };
    const options = { workerData, resourceLimits: { maxOldGenerationSizeMb } };
    const { tenantId } = preview.occasion.environment;
    return queue.run(tenantId, () => runThread(thread, options, signal), signal);
  };
}
