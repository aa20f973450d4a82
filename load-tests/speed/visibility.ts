import type { PacedLoad } from './load/drive.js';
import { RateNotOffered } from './load/open-loop.js';
import { inProduct } from './programs.js';
import { atMost, grouped, type Finding, type Measurement, type Plot } from './section.js';
import { Session } from './session.js';
import { watchVisibility, type Visibility } from './visibility-lag.js';

/** The default of MINUTEBOOK_FLUSH_DELAY_MS, and how much later the slowest may be visible. */
const FLUSH_DELAY_MS = 200;
const RATES = [
  { eventsPerSecond: 2_000, eventsPerRequest: 1, connections: 64, aboveFlushMs: 400 },
  { eventsPerSecond: 20_000, eventsPerRequest: 100, connections: 16, aboveFlushMs: 800 },
] as const;
type Rate = (typeof RATES)[number];

type Watched = Rate & { readonly visibility: Visibility | RateNotOffered };

async function watch(session: Session, rate: Rate, seconds: number): Promise<Watched> {
  const { eventsPerSecond, eventsPerRequest, connections } = rate;
  const load: PacedLoad = {
    path: eventsPerRequest === 1 ? '/v1/events' : '/v1/events/bulk',
    eventsPerRequest,
    connections,
    seconds,
    requestsPerSecond: eventsPerSecond / eventsPerRequest,
    onAccepted: session.onAccepted,
  };
  const visibility = await watchVisibility(session, load).catch((error: unknown) => {
    if (error instanceof RateNotOffered) return error;
    throw error;
  });
  await session.settle();
  return { ...rate, visibility };
}

function findingOf({ eventsPerSecond, aboveFlushMs, visibility }: Watched): Finding {
  const what = `accepted to visible at ${grouped(eventsPerSecond)} ev/s, p99`;
  const most = FLUSH_DELAY_MS + aboveFlushMs;
  if (visibility instanceof RateNotOffered) {
    return { id: 'P4', what, value: visibility.message, target: `≤ ${most} ms`, isReached: false };
  }
  const p99 = visibility.lags.getValueAtPercentile(99);
  return atMost({ id: 'P4', what, unit: 'ms' }, p99, most);
}

function plotOf({ eventsPerSecond, visibility }: Watched): readonly Plot[] {
  if (visibility instanceof RateNotOffered) return [];
  const title = `At ${grouped(eventsPerSecond)} events a second`;
  return [{ title, xLabel: 'seconds', yLabel: 'watched events', series: visibility.plot }];
}

/** P4: the whole product on one port, as `npm start` runs it. */
export const measureVisibility: Measurement = ({ seconds, log }, progress) =>
  inProduct(log, async (product) => {
    progress(0.02, 'customers');
    const session = await Session.open(product);
    const watched: Watched[] = [];
    for (const [index, rate] of RATES.entries()) {
      progress(0.2 + 0.4 * index, `${grouped(rate.eventsPerSecond)} events a second`);
      watched.push(await watch(session, rate, 2 * seconds));
    }
    return {
      title: 'Accepted to visible',
      findings: watched.map(findingOf),
      plots: watched.flatMap(plotOf),
      notes: [
        `Time from the answer 202 to the first answer of usage that shows the event; arrival times are fixed beforehand. Count check: ${grouped(session.accepted)} accepted, as many visible.`,
      ],
    };
  });
