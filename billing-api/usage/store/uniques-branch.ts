import { conditionsOf, eventPieces } from './event-branch.js';
import { minutePieces } from './minute-branch.js';
import { readTemplate } from './sql-template.js';
import type { Placed, StatementBuilder } from './statement-builder.js';

const READ_UNIQUES = readTemplate('read-usage-uniques');

function hashesOfMinutes(builder: StatementBuilder, placed: Placed): string {
  const { slot, source, group, environment, customers, meters, minutes } = minutePieces(builder, [
    placed,
  ]);
  return `SELECT ${slot} AS slot_ms, ${source} AS source_text, ${group} AS group_text,
      CAST([], 'Array(String)') AS texts, arrayJoin(u.uniques) AS hash
    FROM usage_minute_v1 AS u WHERE ${environment} AND ${customers} AND ${meters} AND ${minutes}`;
}

function hashesOfEvents(builder: StatementBuilder, placed: Placed): string {
  const pieces = eventPieces(builder, placed);
  const field = builder.bindings.text(placed.query.subject.aggregation.field ?? '');
  const narrowed = conditionsOf(builder, placed.query.narrowedBy);
  const { environment, eventName, customers, bounds, intervals, filters, ends } = pieces;
  return `SELECT ${pieces['slot']} AS slot_ms, ${pieces['source']} AS source_text,
      ${pieces['group']} AS group_text, ${pieces['texts']} AS texts,
      toFixedString(substring(SHA256(e.properties[${field}]), 1, 16), 16) AS hash
    FROM events_v1 AS e WHERE ${environment} AND ${eventName} AND ${customers} AND ${bounds}
      AND ${intervals} AND ${filters} AND ${narrowed} AND ${ends}
      AND mapContains(e.properties, ${field})`;
}

export function addUniquesBranch(builder: StatementBuilder, placed: Placed): void {
  const { query, parts, place } = placed;
  const hashes = [
    ...(parts.minutes === null ? [] : [hashesOfMinutes(builder, placed)]),
    ...(parts.events.length === 0 ? [] : [hashesOfEvents(builder, placed)]),
  ];
  const isFirst = query.isFirstSlotOnly;
  const queriesOf = new Map([['', [place]]]);
  builder.add({ queriesOf, rule: null, run: null }, READ_UNIQUES, {
    hashes: hashes.join(' UNION ALL '),
    slot: isFirst ? 'min(slot_ms)' : 'slot_ms',
    firstOnly: isFirst ? 'GROUP BY source_text, group_text, texts, hash' : '',
  });
}
