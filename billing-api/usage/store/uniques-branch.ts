import { AGGREGATIONS } from '../../../contract/aggregation.js';
import { assertPresent } from '../../../runtime/failure.js';
import { conditionsOf, eventKeyColumns, eventPieces } from './event-branch.js';
import { minutePieces, splitColumns } from './minute-branch.js';
import { readTemplate } from './sql-template.js';
import type { PlacedQuery, StatementBuilder } from './statement-builder.js';

const READ_UNIQUES = readTemplate('read-usage-uniques');

function hashesOfMinutes(builder: StatementBuilder, placed: PlacedQuery): string {
  const { slot, environment, customers, meters, minutes } = minutePieces(builder, [placed]);
  const { source = `''`, group = `''` } = splitColumns(placed.query);
  return `SELECT ${slot} AS slot_ms, ${source} AS source_text, ${group} AS group_text,
      CAST([], 'Array(String)') AS texts, arrayJoin(u.uniques) AS hash
    FROM usage_minute_v1 AS u WHERE ${environment} AND ${customers} AND ${meters} AND ${minutes}`;
}

function hashesOfEvents(builder: StatementBuilder, placed: PlacedQuery): string {
  const pieces = eventPieces(builder, placed);
  const { source, group, texts } = eventKeyColumns(builder, placed);
  const { aggregation } = placed.query.subject;
  const property = assertPresent(aggregation.field, 'the property whose texts are counted');
  const field = builder.bindings.text(property);
  const narrowed = conditionsOf(builder, placed.query.narrowedBy);
  const { environment, eventName, customers, bounds, intervals, filters, ends } = pieces;
  return `SELECT ${pieces['slot']} AS slot_ms, ${source} AS source_text,
      ${group} AS group_text, ${texts} AS texts,
      toFixedString(substring(SHA256(e.properties[${field}]), 1, 16), 16) AS hash
    FROM events_v1 AS e WHERE ${environment} AND ${eventName} AND ${customers} AND ${bounds}
      AND ${intervals} AND ${filters} AND ${narrowed} AND ${ends}
      AND mapContains(e.properties, ${field})`;
}

/** Queries whose values count different texts and that have something to read, each by itself. */
export function uniquesBranchesOf(queries: readonly PlacedQuery[]): readonly PlacedQuery[] {
  return queries.filter(({ query: { subject }, parts }) => {
    const { values } = AGGREGATIONS[subject.aggregation.type];
    const isEmpty = parts.minutes === null && parts.events.length === 0;
    return values.includes('uniques') && !isEmpty;
  });
}

/** Adds the branch that counts the texts of a query over its minutes and events together. */
export function addUniquesBranch(builder: StatementBuilder, placed: PlacedQuery): void {
  const { query, parts, index } = placed;
  const hashes = [
    ...(parts.minutes === null ? [] : [hashesOfMinutes(builder, placed)]),
    ...(parts.events.length === 0 ? [] : [hashesOfEvents(builder, placed)]),
  ];
  const isFirst = query.isFirstSlotOnly;
  const queryIndexes = new Map([['', [index]]]);
  builder.add(
    { queryIndexes, rule: null, run: null },
    {
      template: READ_UNIQUES,
      columns: {
        ...{ source: 'source_text', group: 'group_text', texts: 'texts' },
        ...{ slots: 'groupArray(slot_ms)', uniqueCount: 'groupArray(slot_texts)' },
      },
      pieces: {
        hashes: hashes.join(' UNION ALL '),
        slot: isFirst ? 'min(slot_ms)' : 'slot_ms',
        firstOnly: isFirst ? 'GROUP BY source_text, group_text, texts, hash' : '',
      },
    },
  );
}
