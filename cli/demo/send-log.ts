import PQueue from 'p-queue';
import type { EventBody } from './access-log.js';
import { UnexpectedAnswer, type ApiClient } from '../look/api-client.js';

export const BULK_EVENTS = 500;
const CONCURRENT_REQUESTS = 4;
const ATTEMPTS_MAX = 120;

type BulkAnswer = { readonly items: readonly { readonly status: string }[] };

export type SendingReport = {
  /** Events sent; an event that is sent twice counts twice. */
  readonly sent: number;
  /** Events that were answered `accepted`. */
  readonly accepted: number;
};

/** After a 503 the events may or may not be stored. Every event has an id, so a retry is safe. */
async function sendUntilStored(
  api: ApiClient,
  events: readonly EventBody[],
): Promise<readonly { readonly status: string }[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await api.post<BulkAnswer>('/events/bulk', { events })).items;
    } catch (error) {
      const isRetryable = !(error instanceof UnexpectedAnswer) || error.status >= 500;
      if (!isRetryable || attempt >= ATTEMPTS_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** The events, followed by every third of them a second time in reverse order. */
export function withDuplicates(events: readonly EventBody[]): readonly EventBody[] {
  const duplicates = events.filter((_, index) => index % 3 === 1);
  return [...events, ...duplicates.toReversed()];
}

/** Sends all events in bulk requests, several at a time. */
export async function sendEvents(
  api: ApiClient,
  events: readonly EventBody[],
  onProgress: (sent: number) => void,
): Promise<SendingReport> {
  const queue = new PQueue({ concurrency: CONCURRENT_REQUESTS });
  let sent = 0;
  let accepted = 0;
  const requests: Promise<void>[] = [];
  for (let start = 0; start < events.length; start += BULK_EVENTS) {
    const some = events.slice(start, start + BULK_EVENTS);
    requests.push(
      queue.add(async () => {
        const items = await sendUntilStored(api, some);
        sent += some.length;
        accepted += items.filter((item) => item.status === 'accepted').length;
        onProgress(sent);
      }),
    );
  }
  await Promise.all(requests);
  return { sent, accepted };
}
