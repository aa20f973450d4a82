import type { AggregationType } from '../../../contract/aggregation.js';
import { readTemplate } from './sql-template.js';
import { armsBy, type Placed, type StatementBuilder } from './statement-builder.js';
import { minuteSumsOf, NOTHING, type UsageQuestion } from './usage-question.js';

const READ_MINUTES = readTemplate('read-usage-minutes');
const READ_STRETCH = readTemplate('read-usage-stretch');

/** Questions about the same minutes, in the same slots, with the same columns and kinds of rows. */
export function minuteArmsOf(
  builder: StatementBuilder,
  questions: readonly Placed[],
): readonly (readonly Placed[])[] {
  const asked = questions.filter(({ parts }) => parts.minutes !== null);
  return armsBy(asked, ({ question: { split, sources, subject, slots }, parts }) => {
    const columns = [split.source, split.group, minuteSumsOf(subject.aggregation.type)];
    return JSON.stringify([parts.minutes, builder.slotsId(slots), sources, columns]);
  });
}

/**
 * Rows of the meters, by generation. No two meters have a generation in common (one sequence of
 * `meter_versions` numbers them all): two lists say as much as pairs do, in 0.6 of the time.
 */
function metersPiece({ bindings }: StatementBuilder, placed: readonly Placed[]): string {
  const minutes = placed.flatMap(({ question: { subject } }) => subject.minutes ?? []);
  const ids = new Set(minutes.map(({ meterId }) => meterId));
  const generations = new Set(minutes.flatMap((meter) => meter.generations));
  const ofMeters = bindings.isOneOf('u.meter_id', [...ids], 'String');
  return `${ofMeters} AND ${bindings.isOneOf('u.generation', [...generations], 'UInt64')}`;
}

/** Rows of whole minutes: the meters' generations, the stretch, and the slot of each. */
export function minutePieces(
  builder: StatementBuilder,
  placed: readonly Placed[],
): Readonly<Record<string, string>> {
  const { bindings } = builder;
  const [first] = placed;
  const minutes = first?.parts.minutes ?? null;
  if (first === undefined || minutes === null) throw new TypeError('an arm without minutes');
  const from = `toDateTime64(${bindings.integer(minutes.startMs / 1000)}, 0, 'UTC')`;
  const to = `toDateTime64(${bindings.integer(minutes.endMs / 1000)}, 0, 'UTC')`;
  const except = bindings.list(
    minutes.except.map((minute) => minute / 1000),
    'Int64',
  );
  const isOut = minutes.except.length === 0 ? '' : ` AND toInt64(u.minute) NOT IN (${except})`;
  return {
    ...builder.conditions('u', first.question),
    meters: metersPiece(builder, placed),
    minutes: `u.minute >= ${from} AND u.minute < ${to}${isOut}`,
    slot: builder.slot(first.question, 'toInt64(u.minute) * 1000'),
    source: first.question.split.source ? 'toString(u.source)' : `''`,
    group: first.question.split.group ? 'u.group_key' : `''`,
  };
}

/** What is added up in a slot, and how a sum is written. */
const SUMS = {
  unreadable: { of: 'sum(u.unreadable_count)', as: (sum: string) => sum },
  valueSum: { of: 'sum(u.value_sum)', as: (sum: string) => `toString(${sum})` },
  valueTimeSum: {
    of: 'sum(u.value_sum * (toInt64(u.minute) * 1000) + u.value_time_sum)',
    as: (sum: string) => `toString(${sum})`,
  },
  valueMax: { of: 'max(u.value_max)', as: (sum: string) => `toString(${sum})` },
  latest: {
    of: 'max(u.latest)',
    as: (sum: string) => `[toString(tupleElement(${sum}, 'at_ms')),
      toString(tupleElement(${sum}, 'received_ms')),
      tupleElement(${sum}, 'event_id'), toString(tupleElement(${sum}, 'value'))]`,
  },
} as const;
const NAMES = ['unreadable', 'valueSum', 'valueTimeSum', 'valueMax', 'latest'] as const;

/** The sums that a type needs; empty lists, which read no column, in place of the others. */
function sumPieces(
  type: AggregationType,
  slots: UsageQuestion['slots'],
): Readonly<Record<string, string>> {
  const isAsked = minuteSumsOf(type);
  const columns = NAMES.map((name) => {
    const { of, as } = SUMS[name];
    if (!isAsked[name]) return [name, NOTHING[name]];
    return [name, slots === null ? `[${as(of)}]` : `groupArray(${as(`u.slot_${name}`)})`];
  });
  const sums = NAMES.filter((name) => isAsked[name]);
  return {
    ...(Object.fromEntries(columns) as Record<string, string>),
    sums: sums.map((name) => `,\n    ${SUMS[name].of} AS slot_${name}`).join(''),
  };
}

export function addMinuteArm(builder: StatementBuilder, placed: readonly Placed[]): void {
  const questionsOf = new Map<string, number[]>();
  for (const { question, place } of placed) {
    for (const generation of question.subject.minutes?.generations ?? []) {
      const name = String(generation);
      questionsOf.set(name, [...(questionsOf.get(name) ?? []), place]);
    }
  }
  const [first] = placed;
  if (first === undefined) throw new TypeError('an arm without questions');
  const { split, slots, subject } = first.question;
  const template = slots === null ? READ_STRETCH : READ_MINUTES;
  builder.add({ questionsOf, rule: null }, template, {
    ...minutePieces(builder, placed),
    ...sumPieces(subject.aggregation.type, slots),
    keys: `${split.source ? ', u.source' : ''}${split.group ? ', u.group_key' : ''}`,
  });
}
