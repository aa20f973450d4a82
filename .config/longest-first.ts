import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take the longest, without their endings. Vitest orders unknown files by size, and
 * these are small: the last of them would run alone at the end, on one core.
 */
const LONGEST = [
  'killed-engines',
  'kafka-scenarios',
  'calm-scenarios',
  'lost-replies',
  'usage-agrees',
  'isolation',
  'plan-change',
  'killed-api',
  'killed-sender',
  'test-clocks',
  'role-matrix',
  'close-log',
  'aggregator',
  'vanished-server',
  'close-kafka-log',
  'backup',
  'many-invoices',
  'threshold-invoices',
  'refused-settings',
  'many-due',
  'public-sdk',
  'erase-meanwhile',
  'migrations',
  'periods',
  'kafka-log',
  'killed-workers',
  'invoice-commitments',
  'embedded',
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.includes(`/${name}.`));
  return rank === -1 ? LONGEST.length : rank;
}

/** Starts the longest files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => rankOf(left) - rankOf(right));
  }
}
