import type { AggregationType } from '../../../contract/aggregation.js';
import { readTemplate } from './sql-template.js';
import { armsBy, type Placed, type StatementBuilder } from './statement-builder.js';
import { minuteSumsOf, NO_LATEST } from './usage-question.js';

const READ_MINUTES = readTemplate('read-usage-minutes');

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

/** Rows of the meters, by generation; one meter is found faster by plain conditions (measured). */
function metersPiece({ bindings }: StatementBuilder, placed: readonly Placed[]): string {
  const pairs = placed.flatMap(({ question: { subject } }) =>
    (subject.minutes?.generations ?? []).map((generation) => ({
      meterId: subject.minutes?.meterId ?? '',
      generation,
    })),
  );
  const ids = pairs.map(({ meterId }) => meterId);
  const generations = bindings.list(
    pairs.map(({ generation }) => generation),
    'UInt64',
  );
  const [only = ''] = ids;
  if (ids.every((id) => id === only)) {
    return `u.meter_id = ${bindings.text(only)} AND u.generation IN (${generations})`;
  }
  const meterIds = bindings.list(ids, 'String');
  return `(u.meter_id, u.generation) IN (arrayZip(${meterIds}, ${generations}))`;
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

const LATEST_OF_MINUTES = `(toString(tupleElement(max(u.latest), 'at_ms')),
    toString(tupleElement(max(u.latest), 'received_ms')),
    tupleElement(max(u.latest), 'event_id'), toString(tupleElement(max(u.latest), 'value')))`;

/** The sums that a type needs; constants, which read no column, in place of the others. */
function sumPieces(type: AggregationType): Readonly<Record<string, string>> {
  const sums = minuteSumsOf(type);
  const timeSum = 'sum(u.value_sum * (toInt64(u.minute) * 1000) + u.value_time_sum)';
  return {
    unreadable: sums.unreadable ? 'sum(u.unreadable_count)' : 'toUInt64(0)',
    valueSum: sums.valueSum ? 'toString(sum(u.value_sum))' : `''`,
    valueTimeSum: sums.valueTimeSum ? `toString(${timeSum})` : `''`,
    valueMax: sums.valueMax ? 'toString(max(u.value_max))' : `''`,
    latest: sums.latest ? LATEST_OF_MINUTES : NO_LATEST,
  };
}

export function addMinuteArm(builder: StatementBuilder, placed: readonly Placed[]): void {
  const questionsOf = new Map<string, number[]>();
  for (const { question, place } of placed) {
    const meterId = question.subject.minutes?.meterId ?? '';
    questionsOf.set(meterId, [...(questionsOf.get(meterId) ?? []), place]);
  }
  builder.add({ questionsOf, rule: null }, READ_MINUTES, {
    ...minutePieces(builder, placed),
    ...sumPieces(placed[0]?.question.subject.aggregation.type ?? 'COUNT'),
  });
}
