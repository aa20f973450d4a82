import { parseArgs } from 'node:util';
import {
  makeMetersMeanwhile,
  type MetersMeanwhile,
  type Observed,
  type Offered,
} from '../../e2e/make-meters-meanwhile.js';
import { onLog } from '../on-log.js';
import { reportSection } from '../report/report-section.js';
import { grouped, type Finding, type Section } from '../section.js';

/**
 * How far an aggregator is behind while meters are made all the time. Events are appended to the
 * log, not sent over HTTP. `npm run measure -- meters-meanwhile [--seconds 60] [--events 20000]
 * [--meters 10] [--meters-before 10000] [--log postgres|kafka]`; `--meters 0` shows the same
 * without new meters. Ends with status 1 when a record waited 5 s, when less was offered than
 * planned, or when a meter's count is not exact.
 */
const LAG_SECONDS_MAX = 5;
/** Part of the planned appends and meters that must have begun in time. */
const OFFERED_MIN = 0.99;

const id = 'meters meanwhile';

function offeredFinding(what: string, { planned, begunInTime }: Offered): Finding {
  return {
    ...{ id, what: `${what} begun in time of those planned` },
    value: `${grouped(begunInTime)} of ${grouped(planned)}`,
    target: `≥ ${100 * OFFERED_MIN} %`,
    isReached: begunInTime >= OFFERED_MIN * planned,
  };
}

/** More than one count means that the meters of a tenant differ. */
function textOf(counts: readonly number[]): string {
  return counts.length === 0 ? 'none' : counts.map(grouped).join(' or ');
}

function countFinding(
  what: string,
  counted: readonly number[],
  expected: readonly number[],
): Finding {
  const [value, target] = [textOf(counted), textOf(expected)];
  return { ...{ id: 'books', what, value, target: `= ${target}` }, isReached: value === target };
}

function findingsOf({ offered, counted, expected, ...observed }: Observed): readonly Finding[] {
  const { lags, lagSecondsMax, metersMade } = observed;
  const sorted = lags.map(([, lag]) => lag).toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return [
    offeredFinding('appends of events', offered.appends),
    offeredFinding('meters', offered.meters),
    {
      ...{ id, what: 'greatest lag', value: `${lagSecondsMax.toFixed(2)} s` },
      ...{ target: `< ${LAG_SECONDS_MAX} s`, isReached: lagSecondsMax < LAG_SECONDS_MAX },
    },
    { id, what: 'median lag', value: `${median.toFixed(2)} s`, target: '', isReached: null },
    countFinding('counted by the meter of the busy tenant', counted.busy, expected.busy),
    countFinding(`counted by each of ${metersMade} meters made`, counted.maker, expected.maker),
  ];
}

function sectionOf(plan: MetersMeanwhile, log: string, observed: Observed): Section {
  const { partitions, events, metersMade, lags } = observed;
  const findings = findingsOf(observed);
  const series = [{ name: 'lag', points: lags }];
  return {
    ...{ title: `Meters made meanwhile, log: ${log}`, findings },
    plots: [{ title: 'Lag', xLabel: 'seconds', yLabel: 'seconds', series }],
    notes: [
      `${plan.seconds} s at ${grouped(plan.eventsPerSecond)} events a second, appended to the log (${log}, ${partitions} partitions), and ${plan.metersPerSecond} new meters a second beside ${grouped(plan.metersBefore)} others: ${grouped(events)} events and ${grouped(metersMade)} meters with those of the first second. One aggregator, which shares the cores with both engines and the client.`,
    ],
  };
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    events: { type: 'string', default: '20000' },
    meters: { type: 'string', default: '10' },
    'meters-before': { type: 'string', default: '10000' },
    log: { type: 'string', default: 'postgres' },
  },
});
const section = await onLog(values.log, async (log) => {
  const plan: MetersMeanwhile = {
    seconds: Number(values.seconds),
    eventsPerSecond: Number(values.events),
    metersPerSecond: Number(values.meters),
    metersBefore: Number(values['meters-before']),
    log,
  };
  return sectionOf(plan, values.log, await makeMetersMeanwhile(plan));
});
await reportSection(`meters-meanwhile-${values.log}`, section);
