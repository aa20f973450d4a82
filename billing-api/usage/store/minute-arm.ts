import { isSplit } from '../../domain/usage/aggregation-spec.js';
import { countColumns, MINUTE_INSTANT, sumColumns } from './minute-columns.js';
import { readTemplate } from './sql-template.js';
import { armsBy, type Placed, type StatementBuilder, type UsageArm } from './statement-builder.js';
import { CELLS_MAX, minuteSumsOf, type UsageQuestion } from './usage-question.js';
import type { Run } from './window-parts.js';

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
    slot: builder.slot(first.question, MINUTE_INSTANT),
    source: first.question.split.source ? 'toString(u.source)' : `''`,
    group: first.question.split.group ? 'u.group_key' : `''`,
  };
}

/** The run that a row has a place for every slot of; null where rows name their slots. */
function placesOf(builder: StatementBuilder, question: UsageQuestion, rows: number): Run | null {
  const { subject, split } = question;
  // Of rows that are told apart further there may be many, with few events each.
  if (subject.aggregation.type !== 'COUNT' || isSplit(split)) return null;
  const run = builder.runOf(question);
  return run !== null && run[2] * rows <= CELLS_MAX ? run : null;
}

function questionsByGeneration(placed: readonly Placed[]): UsageArm['questionsOf'] {
  const questionsOf = new Map<string, number[]>();
  for (const { question, place } of placed) {
    for (const generation of question.subject.minutes?.generations ?? []) {
      const name = String(generation);
      questionsOf.set(name, [...(questionsOf.get(name) ?? []), place]);
    }
  }
  return questionsOf;
}

export function addMinuteArm(builder: StatementBuilder, placed: readonly Placed[]): void {
  const [first] = placed;
  if (first === undefined) throw new TypeError('an arm without questions');
  const { split, slots, subject } = first.question;
  const run = placesOf(builder, first.question, placed.length);
  const columns =
    run === null
      ? sumColumns(subject.aggregation.type, slots)
      : countColumns(run, builder.placeIn(run, MINUTE_INSTANT));
  const template = slots === null || run !== null ? READ_STRETCH : READ_MINUTES;
  builder.add({ questionsOf: questionsByGeneration(placed), rule: null, run }, template, {
    ...minutePieces(builder, placed),
    ...columns,
    keys: `${split.source ? ', u.source' : ''}${split.group ? ', u.group_key' : ''}`,
  });
}
