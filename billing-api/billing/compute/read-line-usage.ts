import { mustGet } from '../../../runtime/failure.js';
import type { LineUsage } from '../../domain/usage/line-usage.js';
import { Refusal } from '../../records/refusal.js';
import { readUsage, type UsageOwner } from '../../usage/read-usage.js';
import { CELLS_MAX } from '../../usage/store/cell-query.js';
import type { UsageReader } from '../../usage/store/usage-reader.js';
import type { Grouping } from '../../usage/usage-grouping.js';
import { usageOfLine } from './line-usage-answer.js';
import { usageQueryOfLine, type LineUsageQuery } from './line-usage-query.js';

/** Usage by line item id; a line without events has an entry of 0. */
export type UsageOfLines = ReadonlyMap<string, LineUsage>;

/** Must count the same events in every reading. */
type LineUsageReader = Pick<UsageReader, 'read'>;

/** Lines whose usage is read by one statement. */
type Piece = readonly LineUsageQuery[];

/**
 * A piece has no more buckets than this, unless it is a single line: five lines with a month of
 * minutes, a quarter of what one statement may answer, which leaves room for groups.
 */
const BUCKETS_OF_PIECE_MAX = 250_000;

function bucketCountOf({ requirement: { buckets } }: LineUsageQuery): number {
  return buckets === null ? 0 : buckets.length;
}

/** Lines in their order; one piece unless they have very many buckets. */
function piecesOf(lines: readonly LineUsageQuery[]): readonly Piece[] {
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
  return pieces.map((piece) => piece.lines);
}

type LinesQuery = {
  readonly lines: readonly LineUsageQuery[];
  readonly grouping: Grouping;
  /** The feature of each meter; used only where usage is grouped by feature. */
  readonly featureIds: ReadonlyMap<string, string>;
};

/** Reads pieces one after the other, so that only one has all of its cells in memory. */
class LineUsageReading {
  readonly usage = new Map<string, LineUsage>();

  constructor(
    private readonly reader: LineUsageReader,
    private readonly owner: UsageOwner,
    private readonly query: LinesQuery,
  ) {}

  /** @returns whether all cells could be read; groups may multiply the buckets of a piece. */
  async add(piece: Piece): Promise<boolean> {
    const { grouping, featureIds } = this.query;
    const queries = piece.map((line) => ({ line, query: usageQueryOfLine(line, grouping) }));
    const wanted = queries.map(({ query }) => query);
    const answers = await readUsage(this.reader, this.owner, wanted);
    if (answers === null) return this.#addHalves(piece);
    for (const { line, query } of queries) {
      const sliced = mustGet(answers, query, 'the usage of a line');
      // Absent means no feature: usage of such a meter is grouped under the empty text.
      const featureId = featureIds.get(line.meter.meterId) ?? '';
      this.usage.set(line.lineItem.id, usageOfLine(line, sliced, { ...grouping, featureId }));
    }
    return true;
  }

  async #addHalves(piece: Piece): Promise<boolean> {
    if (piece.length < 2) return false;
    const middle = Math.ceil(piece.length / 2);
    return (await this.add(piece.slice(0, middle))) && this.add(piece.slice(middle));
  }
}

/**
 * Reads the usage of all lines: in one statement, or in several if the lines have very many buckets
 * or groups.
 */
export async function readLineUsage(
  reader: LineUsageReader,
  owner: UsageOwner,
  query: LinesQuery,
): Promise<UsageOfLines | Refusal> {
  const reading = new LineUsageReading(reader, owner, query);
  for (const piece of piecesOf(query.lines)) {
    if (await reading.add(piece)) continue;
    const message = `a line has more than ${CELLS_MAX} buckets and groups`;
    return new Refusal('validation_error', `${message}; take fewer groups or a shorter period`);
  }
  return reading.usage;
}
