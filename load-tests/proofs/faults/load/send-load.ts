import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../../runtime/failure.js';
import { identityOf, type Ledger } from './ledger.js';
import type { PlannedRequest } from './plan-load.js';

/** Where events go and with which key, by environment. */
export type IngestTarget = {
  /** Of every ingest process: requests take turns, and a repeat goes to the next one. */
  readonly urls: readonly string[];
  readonly apiKeys: readonly string[];
  /** Ends all sending. */
  readonly signal: AbortSignal;
};

const ANSWER_TIMEOUT_MS = 4_000;
const RETRY_PAUSE_MS = 150;
const GIVE_UP_AFTER_MS = 150_000;

/** Too slow, too often, or not now: the same request may be sent again. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429, 503]);

type Answer = 'accepted' | 'unknown' | { readonly wrong: string };

type BulkAnswer = { readonly items: readonly { readonly status: string }[] };

async function readAnswer(response: Response, request: PlannedRequest): Promise<Answer> {
  const text = await response.text();
  if (RETRIED_STATUSES.has(response.status)) return 'unknown';
  if (response.status !== 202) return { wrong: `${response.status}: ${text.slice(0, 200)}` };
  if (!request.isBulk) return 'accepted';
  const { items } = JSON.parse(text) as BulkAnswer;
  const accepted = items.filter((item) => item.status === 'accepted').length;
  return accepted === request.events.length ? 'accepted' : { wrong: text.slice(0, 200) };
}

async function post(target: IngestTarget, request: PlannedRequest, turn: number): Promise<Answer> {
  const url = target.urls[turn % target.urls.length] ?? '';
  const events = request.events.map(({ body }) => body);
  try {
    const response = await fetch(`${url}/v1/events${request.isBulk ? '/bulk' : ''}`, {
      method: 'POST',
      headers: {
        'x-api-key': target.apiKeys[request.environment] ?? '',
        'content-type': 'application/json',
      },
      body: JSON.stringify(request.isBulk ? { events } : events[0]),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    return await readAnswer(response, request);
  } catch {
    // Refused, reset, timed out or cut short: the events may be in the log or not.
    return 'unknown';
  }
}

/**
 * Sends a request until it is accepted, as a client should: the same events with the same ids. Each
 * answer is noted. `turn` chooses the ingest process that is asked first.
 * @throws Error when it is not accepted for minutes, or answered 4xx.
 */
export async function sendUntilAccepted(
  target: IngestTarget,
  ledger: Ledger,
  { turn, ...request }: PlannedRequest & { readonly turn: number },
): Promise<void> {
  const { environment, events } = request;
  const earlier = events.filter(({ isConflict }) => isConflict);
  await Promise.all(
    earlier.map(({ body }) => ledger.whenAccepted(identityOf(environment, body.event_id))),
  );
  const deadline = Date.now() + GIVE_UP_AFTER_MS;
  for (let attempt = 0; ; attempt += 1) {
    ledger.noteSending(environment, events);
    const answer = await post(target, request, turn + attempt);
    if (answer === 'accepted') {
      ledger.noteAccepted(environment, events);
      return;
    }
    if (answer !== 'unknown') throw new Error(`an answer that is none: ${answer.wrong}`);
    ledger.unknownOutcomes += 1;
    if (Date.now() > deadline) throw new Error('a request was not accepted for minutes');
    await delay(RETRY_PAUSE_MS, undefined, { signal: target.signal });
  }
}

/** Sends all requests at their times, whatever becomes of the others. */
export async function sendLoad(
  target: IngestTarget,
  ledger: Ledger,
  requests: readonly PlannedRequest[],
): Promise<void> {
  const startedAt = performance.now();
  await Promise.all(
    requests.map(async (request, turn) => {
      await delay(Math.max(0, request.atMs - (performance.now() - startedAt)));
      await sendUntilAccepted(target, ledger, { ...request, turn });
    }),
  ).catch((error: unknown) => {
    ledger.wrongAnswers.push(messageOf(error));
  });
}
