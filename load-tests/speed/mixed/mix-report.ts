import { atMost, grouped, type Finding, type Plot, type Section } from '../section.js';
import { PARTS } from '../processes.js';
import type { LogLines } from './log-lines.js';
import { growthOfLastHalf } from './minutes.js';
import type { MixPlan, MixResult } from './run-mix.js';
import type { MachineWatch } from './watch-machine.js';
import { BULK_EVENTS, KINDS } from './send-mix.js';

/** A table of ClickHouse delays inserts from 1,000 active parts of a partition on. */
const PARTS_MAX = 300;
/** Growth over the last half of the run that is still called flat. */
const GROWTH_SHARE_MAX = 0.1;
const GROWTH_MB_MAX = 25;
/** Ids that the aggregator's filters learn take this much (docs/internals/measurements.md). */
const BYTES_PER_ID = 2;
/** A shorter run says nothing about growth: caches and heaps are still filling. */
const GROWTH_MINUTES_MIN = 20;
/** Part of the planned requests that must be sent in time. */
const OFFERED_MIN = 0.99;

type JudgedPlan = Pick<MixPlan, 'minutes' | 'singlesShare'>;
/** What is judged of a run. */
export type JudgedRun = Omit<MixResult, 'watch'> & {
  readonly watch: Pick<MachineWatch, 'memory' | 'parts' | 'partsMax' | 'cpuSeconds'>;
};

const id = 'mixed load';
const plain = (what: string, value: string): Finding => ({
  id,
  what,
  value,
  target: '',
  isReached: null,
});
const none = (what: string, count: number, named = ''): Finding => ({
  id,
  what,
  value: `${grouped(count)}${named === '' ? '' : `: ${named}`}`,
  target: '0',
  isReached: count === 0,
});

function offeredFindings({ offered }: JudgedRun): readonly Finding[] {
  return KINDS.map((kind) => {
    const { planned, sentInTime } = offered[kind];
    return {
      id,
      what: `${kind} requests sent of those planned`,
      value: `${grouped(sentInTime)} of ${grouped(planned)}`,
      target: `≥ ${100 * OFFERED_MIN} %`,
      isReached: sentInTime >= OFFERED_MIN * planned,
    };
  });
}

function bookFindings({ comparisons }: JudgedRun): readonly Finding[] {
  return comparisons.map(({ what, product, client }) => ({
    id: 'books',
    what,
    value: grouped(product),
    target: `= ${grouped(client)}`,
    isReached: product === client,
  }));
}

function latencyFindings({ latencies }: JudgedRun): readonly Finding[] {
  return latencies.kinds.map((kind) => {
    const at = (percentile: number): string => latencies.at(kind, percentile).toFixed(1);
    const worst = Math.max(0, ...latencies.p99s(kind)).toFixed(1);
    const what = `${kind}: p50, p99, p99 of the worst minute (${grouped(latencies.count(kind))})`;
    return plain(what, `${at(50)}, ${at(99)}, ${worst} ms`);
  });
}

/** RSS of one process grows in jumps; PSS of several does not count shared pages twice. */
function memoryFindings(
  { watch, eventsPerSecond }: JudgedRun,
  plan: JudgedPlan,
): readonly Finding[] {
  return PARTS.filter((part) => part !== 'other').flatMap((part) => {
    const minutes = watch.memory.get(part) ?? [];
    if (minutes.length === 0) return [];
    const points = minutes.map(({ minute, proportional }) => [minute, proportional] as const);
    const mean = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
    const highWater = Math.max(...minutes.map((each) => each.highWater));
    const what = `${part}: growth of PSS in the last half (mean ${mean.toFixed(0)} MB, VmHWM ${highWater.toFixed(0)} MB)`;
    const ids = (eventsPerSecond * 30 * plan.minutes * BYTES_PER_ID) / 2 ** 20;
    const known = part === 'aggregator' ? ids : 0;
    const most = Math.max(GROWTH_SHARE_MAX * mean, GROWTH_MB_MAX) + known;
    const growth = growthOfLastHalf(points);
    if (plan.minutes < GROWTH_MINUTES_MIN) return [plain(what, `${growth.toFixed(1)} MB`)];
    return [atMost({ id: 'memory', what, unit: 'MB' }, growth, Math.round(most))];
  });
}

function partFindings({ watch }: JudgedRun): readonly Finding[] {
  const [table, most] = [...watch.partsMax].toSorted((a, b) => b[1] - a[1])[0] ?? ['', 0];
  const all = Math.max(0, ...watch.parts.map(([, parts]) => parts));
  return [
    atMost(
      { id: 'parts', what: `most of one partition (${table})`, unit: 'parts' },
      most,
      PARTS_MAX,
    ),
    plain('active parts of all tables: most, at the end', `${all}, ${watch.parts.at(-1)?.[1]}`),
  ];
}

function otherFindings(result: JudgedRun, logs: LogLines): readonly Finding[] {
  const { statuses, wrongAnswers, changes, failures } = result;
  const refused = [...statuses].filter(([status]) => status !== 202);
  const counts = refused.map(([status, count]) => `${count} × ${status}`).join(', ');
  const count = refused.reduce((sum, [, requests]) => sum + requests, 0);
  const lines = [...logs.unexpected];
  const logged = lines.reduce((sum, [, times]) => sum + times, 0);
  const texts = lines.map(([text, times]) => `${times} × ${text}`).join('; ');
  return [
    none('requests not answered 202', count, counts),
    none('wrong answers of usage', wrongAnswers.length, wrongAnswers.slice(0, 3).join('; ')),
    none('calls about meters and parts that failed', failures.length, failures[0]),
    none('log lines at warn or above', logged, texts.slice(0, 400)),
    plain(
      'meters made, changed, archived',
      `${changes.made}, ${changes.changed}, ${changes.archived}`,
    ),
    plain('last event sent until all counted', `${result.drainSeconds.toFixed(1)} s`),
  ];
}

function plotsOf({ latencies, watch, behind }: JudgedRun): readonly Plot[] {
  const memory = (name: 'proportional' | 'highWater', title: string): Plot => ({
    title,
    xLabel: 'minutes',
    yLabel: 'MB',
    series: [...watch.memory].map(([part, minutes]) => ({
      name: part,
      points: minutes.map((each) => [each.minute, Math.round(each[name])] as const),
    })),
  });
  const parts = [{ name: 'active parts', points: watch.parts }];
  return [
    latencies.plot(),
    memory('proportional', 'Memory (PSS)'),
    memory('highWater', 'High-water mark of RSS (VmHWM)'),
    { title: 'Parts of all tables', xLabel: 'seconds', yLabel: 'parts', series: parts },
    {
      title: 'Answers behind the clock',
      xLabel: 'minutes',
      yLabel: 'seconds',
      series: [{ name: 'last total', points: behind }],
    },
  ];
}

function notesOf(result: JudgedRun, plan: JudgedPlan): readonly string[] {
  const { eventsPerSecond, measured, watch } = result;
  const rate = grouped(eventsPerSecond);
  const half =
    measured === null
      ? 'as asked'
      : `half of what the machine does of this load from the first send until all are visible (${grouped(measured)}/s)`;
  const cpu = [...watch.cpuSeconds].map(([part, seconds]) => `${part} ${seconds.toFixed(0)}`);
  return [
    `${plan.minutes} minutes at ${rate} events a second, ${half}; ${100 * plan.singlesShare} % of them as singles, the others ${BULK_EVENTS} a request; 2 % repeats, a third of these with another payload; 5 % late by 1 to 27 days; 0.5 % of unknown customers; 1 % without a meter.`,
    `CPU seconds during the load: ${cpu.join(', ')}. The client takes its part of the same cores.`,
  ];
}

function engineNote(lines: ReadonlyMap<string, number>): string {
  const texts = [...lines].map(([text, count]) => `${grouped(count)} × ${text}`);
  return `Lines of the engines' own error logs: ${texts.join('; ') || 'none'}.`;
}

/** The whole run as one table with its plots. */
export function mixSection(
  result: JudgedRun,
  facts: {
    readonly plan: JudgedPlan;
    readonly logs: LogLines;
    /** Lines of the engines' own error logs by their text. */
    readonly engineLines: ReadonlyMap<string, number>;
    readonly log: string;
  },
): Section {
  const { plan, logs, engineLines, log } = facts;
  return {
    title: `Mixed load, log in ${log}`,
    findings: [
      ...offeredFindings(result),
      ...otherFindings(result, logs),
      ...bookFindings(result),
      ...latencyFindings(result),
      ...memoryFindings(result, plan),
      ...partFindings(result),
    ],
    plots: plotsOf(result),
    notes: [...notesOf(result, plan), engineNote(engineLines)],
  };
}
