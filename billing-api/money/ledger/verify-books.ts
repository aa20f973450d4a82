import { sql } from 'slonik';
import { z } from 'zod';
import type { SecretBox } from '../../../runtime/secret-box.js';
import { integerColumn } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Occasion } from '../../records/occasion.js';
import { mustRead, type ReadDependencies, type ReadUnit } from '../../records/unit.js';
import { findLastAnchor, hasAnchor } from './anchor-store.js';
import { anchorToDto, problemOf, type BooksDto, type BooksProblemDto } from './books-dto.js';
import { anchorProblems } from './check-anchor.js';
import { checkChains } from './check-chains.js';
import { findDifferences, findOrphans, type CustomerRange } from './compare-records.js';
import { findBrokenDocuments } from './verify-documents.js';

/** What is done at once, so that no statement takes long. */
export type VerificationPages = {
  /** Movements that are read at once. */
  readonly read: number;
  /** Movements of customers whose records are compared at once, at least. */
  readonly compared: number;
};
const PAGES: VerificationPages = { read: 5_000, compared: 100_000 };

/** More problems are not told: the books are wrong, and somebody looks. */
const PROBLEMS_MAX = 5_000;

/** The chains of all customers, and in which ranges of customers records are compared. */
async function checkAllChains(unit: ReadUnit, { read, compared }: VerificationPages) {
  let [movements, uncompared] = [0, 0];
  const problems: BooksProblemDto[] = [];
  const ranges: CustomerRange[] = [];
  let behind: string | null = null;
  for await (const page of checkChains(unit, read)) {
    movements += page.movements;
    uncompared += page.movements;
    if (problems.length < PROBLEMS_MAX) problems.push(...page.problems);
    if (uncompared < compared || page.doneUpTo === null) continue;
    ranges.push({ behind, upTo: page.doneUpTo });
    [behind, uncompared] = [page.doneUpTo, 0];
  }
  return { movements, problems, ranges: [...ranges, { behind, upTo: null }] };
}

/** Records and movements that do not agree. */
async function compareAll(
  unit: ReadUnit,
  ranges: readonly CustomerRange[],
): Promise<readonly BooksProblemDto[]> {
  const problems: BooksProblemDto[] = [];
  for (const range of ranges) {
    problems.push(...(await findDifferences(unit, range)), ...(await findOrphans(unit, range)));
    if (problems.length > PROBLEMS_MAX) break;
  }
  return problems;
}

const countRow = z.object({ count: integerColumn });

async function countRecords({ tx }: ReadUnit): Promise<number> {
  const { count } = await tx.one(sql.type(countRow)`
    SELECT (SELECT count(*) FROM invoices WHERE finalized_at IS NOT NULL AND ${isOfEnvironment})
      + (SELECT count(*) FROM payments WHERE ${isOfEnvironment})
      + (SELECT count(*) FROM credit_notes WHERE ${isOfEnvironment})
      + (SELECT count(*) FROM wallets WHERE ${isOfEnvironment}) AS count`);
  return count;
}

/** Whether an anchor that somebody has kept is one of this ledger. */
async function keptProblems(
  unit: ReadUnit,
  kept: string | undefined,
): Promise<readonly BooksProblemDto[]> {
  if (kept === undefined || (await hasAnchor(unit, kept))) return [];
  return [problemOf('anchor', kept, 'no anchor of this ledger has this signature')];
}

/** What a verification needs: without a key no anchor can be checked. */
export type VerifyDependencies = ReadDependencies & { readonly secretBox: SecretBox | null };

/**
 * GET /ledger/verify: computes the hashes of all movements again, compares them with the last
 * anchor, and compares the sums of invoices, payments, credit notes and wallets with their
 * postings, which all have a record.
 */
export function verifyBooks(
  dependencies: VerifyDependencies,
  occasion: Occasion,
  {
    keptAnchor,
    pages = PAGES,
  }: { readonly keptAnchor?: string | undefined; readonly pages?: VerificationPages },
): Promise<BooksDto> {
  return mustRead(dependencies, occasion, async (unit) => {
    const { movements, problems, ranges } = await checkAllChains(unit, pages);
    const anchor = await findLastAnchor(unit);
    const anchored = await anchorProblems(unit, anchor, dependencies.secretBox?.signer ?? null);
    return {
      movements,
      records: await countRecords(unit),
      anchor: anchor === null ? null : anchorToDto(anchor),
      problems: [
        ...problems,
        ...anchored,
        ...(await keptProblems(unit, keptAnchor)),
        ...(await compareAll(unit, ranges)),
        ...(await findBrokenDocuments(unit)),
      ],
    };
  });
}
