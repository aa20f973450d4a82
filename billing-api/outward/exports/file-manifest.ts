import { createHash } from 'node:crypto';
import { compareTexts } from '../../../contract/compare-texts.js';
import { addAt, decimalOf, plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import type { ScheduledTaskRow } from '../../declarations/exports/scheduled-task.resource.js';
import { latenessOf, type ExportedFile, type IsLate, type Row } from './export-needs.js';

/** Adds up what a manifest tells of the rows of a file, while they are written. */
export class RowTally {
  recordCount = 0;
  lateCount = 0;
  readonly #isLate: IsLate;
  readonly #sums = new Map<string, Map<string, Decimal>>();

  constructor(
    private readonly file: ExportedFile,
    window: Interval,
  ) {
    this.#isLate = latenessOf(file, window.startMs);
  }

  add(row: Row): void {
    const { counts = [], amounts = [] } = this.file.told;
    this.recordCount += 1;
    if (this.#isLate(row)) this.lateCount += 1;
    for (const column of counts) this.#addTo(column, '', this.#cell(row, column));
    const currency = amounts.length === 0 ? null : this.#cell(row, 'currency');
    // Without a currency there is no amount.
    if (currency === null) return;
    for (const column of amounts) this.#addTo(column, currency, this.#cell(row, column));
  }

  #cell(row: Row, column: string): string | null {
    return row[this.file.header.indexOf(column)] ?? null;
  }

  #addTo(column: string, currency: string, text: string | null): void {
    if (text === null) return;
    const sums = this.#sums.get(column) ?? new Map<string, Decimal>();
    this.#sums.set(column, sums);
    addAt(sums, currency, decimalOf(text));
  }

  /** By column; amounts have a sum for each currency. */
  get sums(): Readonly<Record<string, string | Readonly<Record<string, string>>>> {
    const { counts = [], amounts = [] } = this.file.told;
    const of = (column: string): ReadonlyMap<string, Decimal> =>
      this.#sums.get(column) ?? new Map<string, Decimal>();
    const byCurrency = (column: string) =>
      [...of(column)]
        .sort(([left], [right]) => compareTexts(left, right))
        .map(([name, sum]) => [name, plain(sum)] as const);
    return Object.fromEntries([
      // Absent means zero: the file has no rows.
      ...counts.map((column) => [column, plain(of(column).get('') ?? ZERO)] as const),
      ...amounts.map((column) => [column, Object.fromEntries(byCurrency(column))] as const),
    ]);
  }
}

/** The bytes of a file as they were written. */
export class ByteTally {
  bytes = 0;
  readonly #hash = createHash('sha256');

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#hash.update(chunk);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

/** How a manifest is written. */
const FORMAT = 1;

/**
 * The manifest of a file (docs/domain.md 33.7): with it a reader proves that nothing is missing. It
 * tells nothing of the run, so that the same file has the same manifest.
 */
export function manifestText(
  scheduled: ScheduledTaskRow,
  file: {
    readonly window: Interval;
    readonly header: readonly string[];
    readonly fileUrl: string;
    readonly rows: RowTally;
    readonly bytes: number;
    readonly sha256: string;
  },
): string {
  const { window, rows } = file;
  const manifest = {
    format: FORMAT,
    tenant_id: scheduled.tenant_id,
    environment_id: scheduled.environment_id,
    scheduled_task_id: scheduled.id,
    entity_type: scheduled.entity_type,
    start_time: formatInstant(window.startMs),
    end_time: formatInstant(window.endMs),
    file_url: file.fileUrl,
    compression: scheduled.job_config.compression,
    bytes: file.bytes,
    sha256: file.sha256,
    columns: file.header,
    record_count: rows.recordCount,
    late_count: rows.lateCount,
    sums: rows.sums,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
