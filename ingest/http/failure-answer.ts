import { DependencyError, messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import { createSeldom } from '../../runtime/seldom.js';
import { errorAnswer, unavailableAnswer, type Answer } from './answer.js';

/** An outage fails every request, so that one log line in this time is enough. */
const OUTAGE_LOG_INTERVAL_MS = 1_000;

/** Logs a failure and gives its answer: 503 for an outage, 500 for a bug. */
export type FailureAnswer = (error: unknown, requestId: string) => Answer;

export function createFailureAnswer(log: Log): FailureAnswer {
  const say = createSeldom(OUTAGE_LOG_INTERVAL_MS);
  const logOutage = ({ dependency, message }: DependencyError, requestId: string): void => {
    say(() => log.warn({ requestId, dependency, error: message }, 'answered 503'));
  };
  return (error, requestId) => {
    if (error instanceof DependencyError) {
      logOutage(error, requestId);
      return unavailableAnswer(
        'the events may not have been stored: retry with the same event_id for each event',
      );
    }
    log.error({ requestId, error: messageOf(error) }, 'bug in the event routes');
    return errorAnswer({ status: 500, code: 'internal_error', message: 'an unexpected error' });
  };
}
