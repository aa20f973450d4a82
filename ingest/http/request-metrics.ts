import type { Metrics } from '../../runtime/metrics.js';
import type { Answer } from './answer.js';
import type { EventPath } from './event-route.js';

export type CountAnswer = (path: EventPath, answer: Answer, seconds: number) => void;

type Observe = (seconds: number) => void;

/** Counts answers. Labelled children are kept, because a look-up costs more than counting. */
export function createRequestMetrics(
  metrics: Pick<Metrics, 'eventsAccepted' | 'eventsRefused' | 'httpSeconds'>,
): CountAnswer {
  const children = new Map<string, Observe>();
  const observerOf = (path: EventPath, status: string): Observe => {
    const name = `${path} ${status}`;
    const known = children.get(name);
    if (known !== undefined) return known;
    const child = metrics.httpSeconds.labels({ method: 'POST', route: path, status });
    const observe: Observe = (seconds) => child.observe(seconds);
    children.set(name, observe);
    return observe;
  };
  return (path, answer, seconds) => {
    observerOf(path, String(answer.status))(seconds);
    if (answer.acceptedEvents > 0) metrics.eventsAccepted.inc(answer.acceptedEvents);
    if (answer.rejectedEvents === 0) return;
    metrics.eventsRefused.inc({ code: answer.code ?? 'validation_error' }, answer.rejectedEvents);
  };
}
