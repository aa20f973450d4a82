import fc from 'fast-check';

/**
 * One statement of the event path. Its arguments are drawn relative to the row at that time: mostly
 * right and sometimes wrong by one, so that guards both accept and refuse.
 */
export type Operation =
  | { readonly kind: 'ensure'; readonly partitions: number }
  | { readonly kind: 'take'; readonly partition: number; readonly gate: number }
  | {
      readonly kind: 'intend';
      readonly partition: number;
      readonly epochOff: number;
      readonly startOff: number;
      readonly length: number;
      readonly catalogOff: number;
      readonly isReplacement: boolean;
      readonly endOff: number;
      readonly digest: string;
    }
  | {
      readonly kind: 'finish';
      readonly partition: number;
      readonly epochOff: number;
      readonly startOff: number;
      readonly endOff: number;
      readonly rows: number;
    }
  | { readonly kind: 'activate' }
  | { readonly kind: 'revert'; readonly version: number }
  | { readonly kind: 'retire_unread' }
  | { readonly kind: 'claim'; readonly version: number }
  | { readonly kind: 'progress'; readonly attempt: number }
  | { readonly kind: 'complete'; readonly attempt: number }
  | { readonly kind: 'postpone'; readonly attempt: number };

export const PARTITIONS = 2;
/** Two meters, activated in random order; more versions would show nothing new. */
export const METERS = ['m', 'n', 'm', 'm', 'n', 'm', 'n', 'm'] as const;

const partition = fc.nat(PARTITIONS - 1);
/** Right nine times out of ten. */
const off = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1);
const version = fc.nat(METERS.length - 1);
/** How many attempts before the latest, so that overtaken ones are tried too. */
const attempt = fc.constantFrom(0, 0, 0, 1, 2);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('ensure' as const),
      partitions: fc.integer({ min: 1, max: PARTITIONS }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      partition,
      gate: fc.nat(6),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('intend' as const),
      partition,
      epochOff: off,
      startOff: off,
      length: fc.integer({ min: 1, max: 3 }),
      catalogOff: fc.constantFrom(0, 0, 0, 0, -1, -2),
      isReplacement: fc.constantFrom(false, false, false, true),
      endOff: off,
      digest: fc.constantFrom('one', 'other'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('finish' as const),
      partition,
      epochOff: off,
      startOff: off,
      endOff: off,
      rows: fc.nat(9),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'activate' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revert' as const), version }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'retire_unread' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim' as const), version }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('progress' as const), attempt }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('complete' as const), attempt }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('postpone' as const), attempt }) },
);

const ROWS: Operation = { kind: 'ensure', partitions: PARTITIONS };
const ACTIVATE: Operation = { kind: 'activate' };
const BATCH: readonly Operation[] = [
  {
    kind: 'intend',
    partition: 0,
    epochOff: 0,
    startOff: 0,
    length: 2,
    catalogOff: 0,
    isReplacement: false,
    endOff: 0,
    digest: 'one',
  },
  { kind: 'finish', partition: 0, epochOff: 0, startOff: 0, endOff: 0, rows: 1 },
];

/** Pure chance reaches a backfill, or a version that is no longer read, too rarely. */
const BEGINNINGS: readonly (readonly Operation[])[] = [
  [],
  [ROWS, ...BATCH],
  [ROWS, ...BATCH, ACTIVATE, { kind: 'claim', version: 0 }],
  [
    ROWS,
    ACTIVATE,
    ACTIVATE,
    ...BATCH,
    ACTIVATE,
    ...([
      { kind: 'claim', version: 2 },
      { kind: 'complete', attempt: 0 },
    ] as const),
  ],
];

export const operations: fc.Arbitrary<readonly Operation[]> = fc
  .tuple(
    fc.constantFrom(...BEGINNINGS),
    fc.array(operation, { minLength: 20, maxLength: 50, size: 'max' }),
  )
  .map(([beginning, drawn]) => [...beginning, ...drawn]);
