import type { AggregationType } from '../../../contract/aggregation.js';
import { minuteSumsOf, NOTHING, type CellQuery } from './cell-query.js';
import type { Run } from './window-parts.js';

/** The pieces of a statement about minutes that make the columns of its rows. */
type Columns = Readonly<Record<string, string>>;

/** Of a minute, in milliseconds, as slots are. */
export const MINUTE_INSTANT = 'toInt64(u.minute) * 1000';

/** What is added up in a slot, and how a sum is written. */
const SUMS = {
  unreadable: { of: 'sum(u.unreadable_count)', as: (sum: string) => sum },
  valueSum: { of: 'sum(u.value_sum)', as: (sum: string) => `toString(${sum})` },
  valueTimeSum: {
    of: `sum(u.value_sum * (${MINUTE_INSTANT}) + u.value_time_sum)`,
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
export function sumColumns(type: AggregationType, slots: CellQuery['slots']): Columns {
  const isAsked = minuteSumsOf(type);
  const columns = NAMES.map((name) => {
    const { of, as } = SUMS[name];
    if (!isAsked[name]) return [name, NOTHING[name]];
    return [name, slots === null ? `[${as(of)}]` : `groupArray(${as(`u.slot_${name}`)})`];
  });
  const sums = NAMES.filter((name) => isAsked[name]);
  return {
    slots: '[toInt64(0)]',
    events: '[sum(u.event_count)]',
    ...(Object.fromEntries(columns) as Record<string, string>),
    sums: sums.map((name) => `,\n    ${SUMS[name].of} AS slot_${name}`).join(''),
  };
}

/** Counts alone, one for every slot of a run; `place` says which slot a minute is in. */
export function countColumns([, , count]: Run, place: string): Columns {
  return {
    ...NOTHING,
    slots: `CAST([], 'Array(Int64)')`,
    events: `sumResample(0, ${count}, 1)(u.event_count, ${place})`,
  };
}
