import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import type { Signer } from '../../../runtime/signer.js';
import { noRows } from '../../../sql/columns.js';
import { anchorText } from '../../domain/ledger/anchor-text.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import {
  type BillingDatabase,
  mustWrite,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import { digestHeads, findLastAnchor, storeAnchor, type SignedAnchor } from './anchor-store.js';
import { problemOf, type BooksProblemDto } from './books-dto.js';
import { anchorProblems } from './check-anchor.js';

const ENVIRONMENTS_MAX = 100_000;
const environmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

/** The environments that have movements of money. */
export async function findLedgers({ slonik }: BillingDatabase): Promise<readonly Environment[]> {
  const rows = await slonik.any(sql.type(environmentRow)`
    SELECT tenant_id, environment_id FROM list_ledgers(${ENVIRONMENTS_MAX})`);
  return rows.map((row) => ({ tenantId: row.tenant_id, environmentId: row.environment_id }));
}

const customerRow = z.object({ customer_id: z.string() });

/** Heads that are not the last movement of their customer: they are not anchored. */
async function findLooseHeads({ tx }: Unit): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(customerRow)`
    SELECT head.customer_id FROM ledger_heads AS head
    LEFT JOIN ledger_groups AS movement ON movement.customer_id = head.customer_id
      AND movement.position = head.last_position AND ${rowIsOfEnvironment('movement')}
    WHERE movement.hash IS DISTINCT FROM head.last_hash AND ${rowIsOfEnvironment('head')}
    ORDER BY head.customer_id LIMIT 1000`);
  return rows.map(({ customer_id: id }) =>
    problemOf('customer', id, 'its last movements are gone or altered'),
  );
}

/** Moves the anchored heads on; how many have moved. */
async function moveHeads({ tx }: Unit): Promise<number> {
  const { rowCount } = await tx.query(sql.type(noRows)`
    INSERT INTO ledger_anchored_heads AS anchored (tenant_id, environment_id, customer_id, position, hash)
    SELECT tenant_id, environment_id, customer_id, last_position, last_hash FROM ledger_heads
    WHERE last_position > 0 AND ${isOfEnvironment}
    ON CONFLICT (tenant_id, environment_id, customer_id)
      DO UPDATE SET position = excluded.position, hash = excluded.hash
      WHERE anchored.position < excluded.position`);
  return rowCount;
}

/** What became of an anchor: problems, for which there is none, or the last one. */
export type TakenAnchor =
  | { readonly problems: readonly BooksProblemDto[] }
  | { readonly anchor: SignedAnchor | null; readonly isNew: boolean };

/**
 * Anchors the ledger of an environment: every customer must still have the movements that were
 * anchored before, so each anchor answers for those before it. Where nothing was posted since, the
 * last one stays, unless the key has changed.
 */
export async function takeAnchor(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  signer: Signer,
): Promise<TakenAnchor> {
  const taken = await mustWrite(dependencies, occasion, async (unit): Promise<TakenAnchor> => {
    const last = await findLastAnchor(unit);
    const problems = [
      ...(await anchorProblems(unit, last, signer)),
      ...(await findLooseHeads(unit)),
    ];
    if (problems.length > 0) return { problems };
    const moved = await moveHeads(unit);
    // A new key signs at once, so that the old one is needed no more.
    const isSignedAnew = last !== null && last.publicKey !== signer.publicKey;
    if (moved === 0 && !isSignedAnew) return { anchor: last, isNew: false };
    const anchor = {
      number: (last?.number ?? 0) + 1,
      anchoredAt: unit.now,
      ...(await digestHeads(unit)),
      previous: last?.signature ?? '',
    };
    const signature = signer.sign(anchorText(unit.environment, anchor));
    const signed = { ...anchor, publicKey: signer.publicKey, signature };
    await storeAnchor(unit, signed);
    return { anchor: signed, isNew: true };
  });
  return taken;
}
