import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';

/** The generation of a meter that has one version. */
export function generationOf(database: Database, meterId: string): Promise<number> {
  return ownerOf(database).oneFirst(sql.type(z.object({ generation: integerColumn }))`
    SELECT generation FROM meter_versions WHERE meter_id = ${meterId}`);
}
