import type { Interval } from '../../../contract/instant.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { CellQueryBatch } from './cell-query.js';
import { EVENT_INSTANT } from './answer-columns.js';
import { endsPiece, timestampRange } from './event-branch.js';
import { fillTemplate, readTemplate, type Bindings } from './sql-template.js';
import { answeredQueries, customersOf, tellsApart } from './branch-customers.js';
import { StatementBuilder } from './statement-builder.js';
import type { StatementPart } from './statement-parts.js';
import { branchesBy, firstOf, type PlacedQuery, type UsageBranch } from './usage-branch.js';
import { placedOf } from './usage-statement.js';

const FIND_LATE = readTemplate('find-late-events');

export type LateEventsStatement = {
  readonly text: string;
  readonly bindings: Bindings;
  readonly branches: readonly UsageBranch[];
};

function minutesOf({ parts }: PlacedQuery): Interval {
  return assertPresent(parts.minutes, 'the minutes of a query');
}

/** Queries of one branch read the same stretch of minutes, made of events of the same name. */
function branchesOf(placed: readonly PlacedQuery[]): readonly (readonly PlacedQuery[])[] {
  const ofMinutes = placed.filter(({ parts }) => parts.minutes !== null);
  return branchesBy(ofMinutes, (one) => {
    const { startMs, endMs } = minutesOf(one);
    const { subject, sources } = one.query;
    return [startMs, endMs, subject.eventName, sources];
  });
}

/**
 * Finds the first event at or above the ends in the minutes that each query of a part reads; null
 * when none reads minutes.
 * @param ends Of every partition that may hold events; those that count none end at 0.
 */
export function lateEventsStatementOf(
  batch: CellQueryBatch,
  part: StatementPart,
  ends: readonly PartitionEnd[],
): LateEventsStatement | null {
  const builder = new StatementBuilder(batch);
  const { bindings } = builder;
  const branches = branchesOf(placedOf(batch, part));
  const texts = branches.map((branch, index) => {
    const first = firstOf(branch);
    const { query } = first;
    const isTold = tellsApart(customersOf(branch));
    return fillTemplate(FIND_LATE, {
      ...builder.conditions('e', branch),
      query: bindings.integer(index),
      customer: isTold ? 'e.customer_key' : `''`,
      groupBy: isTold ? 'GROUP BY e.customer_key' : '',
      eventMs: EVENT_INSTANT,
      eventName: `e.event_name = ${bindings.text(query.subject.eventName)}`,
      bounds: timestampRange(builder, minutesOf(first)),
      least: bindings.integer(Math.min(...ends.map(({ countedBelow }) => countedBelow))),
      ends: endsPiece(builder, ends),
    });
  });
  if (texts.length === 0) return null;
  return {
    text: texts.join('\nUNION ALL\n'),
    bindings,
    branches: branches.map((branch) => {
      const named = branch.map((placed) => ['', placed] as const);
      return { ...answeredQueries(named, customersOf(branch)), rule: null, run: null };
    }),
  };
}
