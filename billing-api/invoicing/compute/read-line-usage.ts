import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { Environment } from '../../../contract/environment.js';
import type { LineUsage } from '../../domain/usage/line-usage.js';
import { Refusal, Refused } from '../../records/refusal.js';
import { readUsageOfMany } from '../../usage/read-usage.js';
import { CELLS_MAX, type UsageCustomers } from '../../usage/store/cell-query.js';
import type { UsageReader } from '../../usage/store/usage-reader.js';
import type { Grouping } from '../../usage/usage-grouping.js';
import { usageOfLine } from './line-usage-answer.js';
import { usageQueryOfLine, type LineUsageQuery } from './line-usage-query.js';

/** Usage by line item id; a line without events has an entry of 0. */
export type UsageOfLines = ReadonlyMap<string, LineUsage>;

/** Must count the same events in every reading. */
type LineUsageReader = Pick<UsageReader, 'read'>;

/** The lines of one invoice. */
export type LinesQuery = {
  readonly customers: UsageCustomers;
  readonly lines: readonly LineUsageQuery[];
  readonly grouping: Grouping;
  /** The feature of each meter; used only where usage is grouped by feature. */
  readonly featureIds: ReadonlyMap<string, string>;
};

/** Lines of one invoice whose usage is read by one statement. */
type Piece = { readonly invoice: number; readonly lines: readonly LineUsageQuery[] };

/**
 * A piece has no more buckets than this, unless it is a single line: five lines with a month of
 * minutes, a quarter of what one statement may answer, which leaves room for groups.
 */
const BUCKETS_OF_PIECE_MAX = 250_000;

/** Lines of invoices that are read together, so that few of them are in memory at once. */
const LINES_TOGETHER_MAX = 2_000;

function bucketCountOf({ requirement: { buckets } }: LineUsageQuery): number {
  return buckets === null ? 0 : buckets.length;
}

function allBucketsOf(lines: readonly LineUsageQuery[]): number {
  return lines.reduce((sum, line) => sum + bucketCountOf(line), 0);
}

/** Whether the usage of these lines, of several invoices, is read in one statement. */
export function areReadTogether(lines: readonly LineUsageQuery[]): boolean {
  return lines.length <= LINES_TOGETHER_MAX && allBucketsOf(lines) <= BUCKETS_OF_PIECE_MAX;
}

/** The lines of an invoice in their order; one piece unless they have very many buckets. */
function piecesOf({ lines }: LinesQuery, invoice: number): readonly Piece[] {
  const pieces: { readonly lines: LineUsageQuery[]; buckets: number }[] = [];
  for (const line of lines) {
    const count = bucketCountOf(line);
    const last = pieces.at(-1);
    if (last === undefined || last.buckets + count > BUCKETS_OF_PIECE_MAX) {
      pieces.push({ lines: [line], buckets: count });
    } else {
      last.lines.push(line);
      last.buckets += count;
    }
  }
  return pieces.map((piece) => ({ invoice, lines: piece.lines }));
}

function halvesOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

/** Lines that may have fewer cells than one answer can hold when fewer of them are read. */
const TOO_MANY_CELLS = new Refusal(
  'validation_error',
  `a line has more than ${CELLS_MAX} buckets and groups; take fewer groups or a shorter period`,
);

/** Reads pieces one after the other, so that only some have all of their cells in memory. */
class LineUsageReading {
  readonly usage: readonly Map<string, LineUsage>[];
  /** Why the usage of an invoice cannot be read, by its place in the list. */
  readonly refusals = new Map<number, Refusal>();

  constructor(
    private readonly reader: LineUsageReader,
    private readonly environment: Environment,
    private readonly invoices: readonly LinesQuery[],
  ) {
    this.usage = invoices.map(() => new Map());
  }

  /** Reads pieces of different invoices in one statement; if it cannot, fewer at once. */
  async add(pieces: readonly Piece[]): Promise<void> {
    const open = pieces.filter(({ invoice }) => !this.refusals.has(invoice));
    const [only, ...others] = open;
    if (only === undefined) return;
    const refusal = await this.#read(open);
    if (refusal === null) return;
    // One invoice that cannot be read does not keep the others from being read.
    const parts = others.length > 0 ? halvesOf(open) : partsOf(only, refusal);
    if (parts === null) this.refusals.set(only.invoice, refusal);
    else for (const part of parts) await this.add(part);
  }

  /** @returns why it cannot be read so; null when it was read. */
  async #read(pieces: readonly Piece[]): Promise<Refusal | null> {
    const asked = pieces.map(({ invoice, lines }) => {
      const { customers, grouping } = this.#invoice(invoice);
      const queries = lines.map((line) => usageQueryOfLine(line, grouping));
      return { invoice, customers, lines, queries };
    });
    try {
      const answers = await readUsageOfMany(this.reader, this.environment, asked);
      if (answers === null) return TOO_MANY_CELLS;
      for (const { invoice, lines, queries } of asked) {
        for (const [line, query] of zip(lines, queries)) {
          this.#note(invoice, line, mustGet(answers, query, 'the usage of a line'));
        }
      }
      return null;
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      throw error;
    }
  }

  #invoice(invoice: number): LinesQuery {
    return assertPresent(this.invoices[invoice], 'an invoice');
  }

  #note(invoice: number, line: LineUsageQuery, sliced: Parameters<typeof usageOfLine>[1]): void {
    const { grouping, featureIds } = this.#invoice(invoice);
    // Absent means no feature: usage of such a meter is grouped under the empty text.
    const featureId = featureIds.get(line.meter.meterId) ?? '';
    const usage = assertPresent(this.usage[invoice], 'the usage of an invoice');
    usage.set(line.lineItem.id, usageOfLine(line, sliced, { ...grouping, featureId }));
  }
}

/** Groups may multiply the buckets of a piece: then half of its lines are read at once. */
function partsOf(
  { invoice, lines }: Piece,
  refusal: Refusal,
): readonly (readonly Piece[])[] | null {
  if (lines.length < 2 || refusal !== TOO_MANY_CELLS) return null;
  return halvesOf(lines).map((half) => [{ invoice, lines: half }]);
}

/**
 * Reads the usage of the lines of some invoices, which may be of different customers. One statement
 * reads them where `areReadTogether` says so; otherwise each invoice is read by itself. An invoice
 * whose lines have very many buckets or groups takes several statements.
 * @returns for each invoice its usage, or why it cannot be read.
 */
export async function readLineUsage(
  reader: LineUsageReader,
  environment: Environment,
  invoices: readonly LinesQuery[],
): Promise<readonly (UsageOfLines | Refusal)[]> {
  const reading = new LineUsageReading(reader, environment, invoices);
  const pieces = invoices.map(piecesOf);
  if (areReadTogether(invoices.flatMap(({ lines }) => lines))) await reading.add(pieces.flat());
  else for (const piece of pieces.flat()) await reading.add([piece]);
  return reading.usage.map((usage, invoice) => reading.refusals.get(invoice) ?? usage);
}
