import { sql, type IdentifierSqlToken } from 'slonik';
import { z } from 'zod';
import { createSecretBox, isBound } from '../../runtime/secret-box.js';
import { noRows } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { VerbRefused } from '../stack/verb-refused.js';

/** Every column that holds a sealed secret. */
export const SEALED_COLUMNS = [
  { table: 'connections', column: 'secrets' },
  { table: 'webhook_endpoints', column: 'secret' },
  { table: 'webhook_endpoints', column: 'previous_secret' },
] as const;

/** Rows that are held at once. */
const ROWS_AT_ONCE = 100;

const sealedRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  sealed: z.custom<Buffer>((value) => Buffer.isBuffer(value)),
});

/** How many secrets were sealed anew, and how many were sealed with the new key already. */
export type Resealed = { readonly resealed: number; readonly unchanged: number };

type Place = { readonly table: string; readonly column: IdentifierSqlToken };

/** One page of a column, behind an id. @returns null when there are no more. */
async function resealPage(
  database: Database,
  { table, column }: Place,
  { after, keys }: { readonly after: string; readonly keys: SecretKeys },
): Promise<(Resealed & { readonly last: string }) | null> {
  const [next, both] = [createSecretBox(keys.next), createSecretBox(keys.next, keys.previous)];
  return database.transaction(async (connection) => {
    const rows = await connection.any(sql.type(sealedRow)`
      SELECT id, tenant_id, environment_id, ${column} AS sealed FROM ${sql.identifier([table])}
      WHERE ${column} IS NOT NULL AND id > ${after}
      ORDER BY id LIMIT ${ROWS_AT_ONCE} FOR NO KEY UPDATE`);
    const last = rows.at(-1);
    if (last === undefined) return null;
    let resealed = 0;
    for (const { id, tenant_id: tenantId, environment_id: environmentId, sealed } of rows) {
      const place = { tenantId, environmentId, table, id };
      const isNew = await next.open(sealed, place).then(
        () => isBound(sealed),
        () => false,
      );
      if (isNew) continue;
      const text = await both.open(sealed, place).catch(() => {
        throw new VerbRefused(
          `the secret of ${id} is sealed with neither key: nothing of its page was changed; give the key that it was kept with as MINUTEBOOK_PREVIOUS_SECRETS_KEY`,
        );
      });
      await connection.query(sql.type(noRows)`
        UPDATE ${sql.identifier([table])} SET ${column} = ${sql.binary(await next.seal(text, place))}
        WHERE id = ${id}`);
      resealed += 1;
    }
    return { resealed, unchanged: rows.length - resealed, last: last.id };
  });
}

export type SecretKeys = { readonly next: string; readonly previous: string };

/**
 * Seals every secret with the new key that is sealed with the previous one. Safe to repeat, and to
 * end at any time: programs that know both keys read either.
 * @throws VerbRefused for a secret that neither key opens.
 */
export async function resealSecrets(database: Database, keys: SecretKeys): Promise<Resealed> {
  let [resealed, unchanged] = [0, 0];
  for (const { table, column } of SEALED_COLUMNS) {
    const place = { table, column: sql.identifier([column]) };
    let after = '';
    for (;;) {
      const page = await resealPage(database, place, { after, keys });
      if (page === null) break;
      resealed += page.resealed;
      unchanged += page.unchanged;
      after = page.last;
    }
  }
  return { resealed, unchanged };
}
