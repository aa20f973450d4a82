import { sql } from 'slonik';
import { z } from 'zod';
import type { Signer } from '../../../runtime/signer.js';
import { integerColumn } from '../../../sql/columns.js';
import { anchorText } from '../../domain/ledger/anchor-text.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { digestHeads, readAnchoredHeads, type SignedAnchor } from './anchor-store.js';
import { problemOf, type BooksProblemDto } from './books-dto.js';

const PROBLEMS_MAX = 1000;

const lostRow = z.object({
  customer_id: z.string(),
  position: integerColumn,
  is_there: z.boolean(),
});

/** The customers whose ledger does not lead to what was anchored. */
async function findAltered({ tx }: ReadUnit): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(lostRow)`
    SELECT anchored.customer_id, anchored.position, movement.hash IS NOT NULL AS is_there
    FROM ledger_anchored_heads AS anchored
    LEFT JOIN ledger_groups AS movement ON movement.customer_id = anchored.customer_id COLLATE "default"
      AND movement.position = anchored.position AND ${rowIsOfEnvironment('movement')}
    WHERE movement.hash IS DISTINCT FROM anchored.hash AND ${rowIsOfEnvironment('anchored')}
    ORDER BY anchored.customer_id LIMIT ${PROBLEMS_MAX}`);
  return rows.map(({ customer_id: id, position, is_there: isThere }) =>
    problemOf(
      'customer',
      id,
      isThere
        ? `its movements up to number ${position} are not those that were anchored`
        : `its movement number ${position} was anchored, and is gone`,
    ),
  );
}

const numberRow = z.object({ number: integerColumn });

/** Anchors that do not follow from the one before. */
async function findUnchained({ tx }: ReadUnit): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(numberRow)`
    SELECT number FROM (
      SELECT number, previous, row_number() OVER (ORDER BY number) AS place,
        coalesce(lag(signature) OVER (ORDER BY number), '') AS expected
      FROM ledger_anchors WHERE ${rowIsOfEnvironment('ledger_anchors')}
    ) AS anchor
    WHERE number <> place OR previous <> expected ORDER BY number LIMIT 1`);
  return rows.map(({ number }) =>
    problemOf('anchor', String(number), 'anchors before it are missing or altered'),
  );
}

/**
 * What is not as it was anchored: the movements up to the anchored heads are computed by whoever
 * checks the chains, so here only their last ones are compared.
 */
async function problemsSince(
  unit: ReadUnit,
  anchor: SignedAnchor,
  signer: Signer | null,
): Promise<readonly BooksProblemDto[]> {
  const problem = (found: string) => [problemOf('anchor', String(anchor.number), found)];
  if (signer === null) return problem('it cannot be checked without MINUTEBOOK_SECRETS_KEY');
  const isSigned = signer.hasSigned(anchorText(unit.environment, anchor), anchor.signature);
  const { customers, movements, root } = await digestHeads(unit);
  const isListed =
    root === anchor.root && customers === anchor.customers && movements === anchor.movements;
  return [
    ...(isSigned ? [] : problem('it is not signed with the key of this installation')),
    ...(isListed ? [] : problem('the list of its heads was altered')),
    ...(await findUnchained(unit)),
    ...(await findAltered(unit)),
  ];
}

/** What is not as it was anchored. Before the first anchor there is nothing to compare with. */
export async function anchorProblems(
  unit: ReadUnit,
  anchor: SignedAnchor | null,
  signer: Signer | null,
): Promise<readonly BooksProblemDto[]> {
  if (anchor !== null) return problemsSince(unit, anchor, signer);
  const heads = await readAnchoredHeads(unit, '');
  return heads.length === 0
    ? []
    : [problemOf('anchor', '1', 'it is gone, and its heads are there')];
}
