import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { BillingPeriod } from '../billing-grid.js';

/** What a case is mainly about; all figures are probabilities. */
export type Theme = {
  readonly periods: readonly BillingPeriod[];
  readonly bucketed: number;
  readonly grouped: number;
  readonly entitled: number;
  /** That an allowance has one plain source, so that its windows decide. */
  readonly plainlyEntitled: number;
  readonly commitsSubscription: number;
  /** Of each usage item, where the subscription has no commitment. */
  readonly commitsLine: number;
  readonly windowed: number;
  /** That a duration is longer than the billing period, where one can be. */
  readonly longer: number;
  /** That an item continues another one. */
  readonly lineage: number;
  readonly fixedItemsMax: number;
  /** That all FIXED lines cost powers of ten. */
  readonly powersOfTen: number;
  /** That buckets are so long that allowances are reset inside of them. */
  readonly longBuckets: number;
  readonly trial: number;
  /** Of each row of the ledger, as the next two. */
  readonly pauses: number;
  /** Where nothing has a commitment. */
  readonly thresholds: number;
  readonly cancels: number;
  /** Numbers of events, one of which is taken. */
  readonly events: readonly number[];
};

const mixed: Theme = {
  periods: ['DAILY', 'WEEKLY', 'MONTHLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'],
  bucketed: 0.45,
  grouped: 0.3,
  entitled: 0.4,
  plainlyEntitled: 0.4,
  commitsSubscription: 0.3,
  commitsLine: 0.6,
  windowed: 0.75,
  longer: 0.5,
  lineage: 0.2,
  fixedItemsMax: 3,
  powersOfTen: 0.1,
  longBuckets: 0.1,
  trial: 0.2,
  pauses: 0.25,
  thresholds: 0.25,
  cancels: 0.05,
  events: [0, 3, 8, 15, 30, 60],
};

/** Fixed lines, periods and dates. */
const fixedLines: Theme = {
  ...mixed,
  bucketed: 0.1,
  entitled: 0.1,
  fixedItemsMax: 6,
  trial: 0.3,
  pauses: 0.3,
};

/** What a history does to usage and allowances. */
const histories: Theme = {
  ...mixed,
  bucketed: 0.3,
  entitled: 0.9,
  plainlyEntitled: 0.75,
  commitsSubscription: 0.1,
  commitsLine: 0.1,
  lineage: 0.5,
  trial: 0.35,
  pauses: 0.4,
  thresholds: 0.6,
  events: [15, 30, 60],
};

const THEMES: readonly Theme[] = [
  mixed,
  // Windows by the clock, most of them around a clock change.
  {
    ...mixed,
    periods: ['DAILY', 'DAILY', 'WEEKLY', 'MONTHLY'],
    bucketed: 1,
    entitled: 0.2,
    commitsSubscription: 0,
    commitsLine: 1,
    windowed: 0.95,
    lineage: 0.15,
    thresholds: 0,
    fixedItemsMax: 0,
    events: [0, 0, 8, 30, 60],
  },
  // Allowances of all reset periods, most of them longer than the billing period.
  {
    ...mixed,
    periods: ['DAILY', 'WEEKLY', 'WEEKLY', 'MONTHLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'],
    events: [30, 60, 90],
    bucketed: 0.6,
    entitled: 1,
    grouped: 0.6,
    pauses: 0.4,
    commitsSubscription: 0.1,
    commitsLine: 0.1,
    fixedItemsMax: 0,
  },
  // Allowances that are reset inside of buckets, whose parts have one price together.
  {
    ...mixed,
    periods: ['WEEKLY', 'MONTHLY', 'MONTHLY', 'QUARTERLY'],
    events: [30, 60],
    bucketed: 1,
    entitled: 1,
    plainlyEntitled: 1,
    longBuckets: 1,
    commitsSubscription: 0.1,
    commitsLine: 0.1,
    fixedItemsMax: 0,
  },
  // The walk through the subscription's commitment.
  {
    ...mixed,
    bucketed: 0.2,
    entitled: 0.2,
    commitsSubscription: 1,
    fixedItemsMax: 1,
    thresholds: 0,
  },
  // Commitments of lines over several periods.
  {
    ...mixed,
    periods: ['MONTHLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY'],
    entitled: 0.1,
    bucketed: 0.2,
    commitsSubscription: 0,
    commitsLine: 1,
    windowed: 0,
    longer: 0.9,
    lineage: 0.6,
    fixedItemsMax: 0,
    thresholds: 0,
  },
  fixedLines,
  fixedLines,
  histories,
  histories,
];

export function randomTheme(random: SeededRandom): Theme {
  return random.pick(THEMES);
}
