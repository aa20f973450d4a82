import { expect, it } from 'vitest';
import { LogLines } from './log-lines.js';
import { MinuteLatencies } from './minutes.js';
import { mixSection, type JudgedRun } from './mix-report.js';

const plan = { minutes: 60, singlesShare: 0.2 };
const minutes = (grow: (minute: number) => number) =>
  Array.from({ length: 60 }, (_, index) => ({
    minute: index + 1,
    highWater: 200,
    proportional: 100 + grow(index),
  }));

function run(changes: Partial<JudgedRun>): JudgedRun {
  return {
    eventsPerSecond: 1_000,
    measured: null,
    offered: {
      single: { planned: 1_000, sentInTime: 1_000 },
      bulk: { planned: 100, sentInTime: 100 },
    },
    statuses: new Map([[202, 1_100]]),
    latencies: new MinuteLatencies(),
    behind: [],
    wrongAnswers: [],
    failures: [],
    changes: { made: 1, changed: 1, archived: 1 },
    drainSeconds: 1,
    comparisons: [{ what: 'accepted', product: 5, client: 5 }],
    watch: {
      memory: new Map([['ingest', minutes(() => 0)]]),
      parts: [[5, 20]],
      partsMax: new Map([['events_v1', 8]]),
      cpuSeconds: new Map(),
    },
    ...changes,
  };
}

function missed(changes: Partial<JudgedRun>, line?: string): readonly string[] {
  const logs = new LogLines('/dev/null');
  if (line !== undefined) logs.add(line);
  const { findings } = mixSection(run(changes), {
    plan,
    logs,
    engineLines: new Map(),
    log: 'postgres',
  });
  return findings.filter(({ isReached }) => isReached === false).map(({ what }) => what);
}

const watch = run({}).watch;

it('finds nothing in a run in which everything is as it must be', () => {
  expect(missed({})).toEqual([]);
});

it.each<readonly [string, Partial<JudgedRun>, RegExp]>([
  ['a count', { comparisons: [{ what: 'accepted', product: 4, client: 5 }] }, /^accepted$/],
  [
    'a refused request',
    {
      statuses: new Map([
        [202, 9],
        [503, 1],
      ]),
    },
    /^requests not answered 202$/,
  ],
  ['a wrong answer', { wrongAnswers: ['total'] }, /^wrong answers/],
  ['a failed call', { failures: ['meters: 500'] }, /^calls about meters/],
  [
    'a rate that was not offered',
    { offered: { ...run({}).offered, bulk: { planned: 100, sentInTime: 98 } } },
    /^bulk requests sent/,
  ],
  [
    'memory that grows',
    { watch: { ...watch, memory: new Map([['ingest', minutes((minute) => minute)]]) } },
    /^ingest: growth/,
  ],
  [
    'too many parts',
    { watch: { ...watch, partsMax: new Map([['events_v1', 301]]) } },
    /^most of one partition/,
  ],
])('misses for %s alone', (_, changes, what) => {
  expect(missed(changes)).toEqual([expect.stringMatching(what)]);
});

it('misses for one log line at warn', () => {
  const line = JSON.stringify({ level: 40, program: 'ingest', msg: 'answered 503' });
  expect(missed({}, line)).toEqual(['log lines at warn or above']);
});
