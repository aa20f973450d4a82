import { test as base } from './fixtures.js';
import { FaultProxy } from '../proofs/faults/engines/fault-proxy.js';
import { createDatabase, type Database } from '../../sql/pool.js';

/** `test` with a pool of one connection, and what stands between it and the server. */
export const test = base.extend<{ wire: { readonly proxy: FaultProxy; readonly pool: Database } }>({
  wire: async ({ database: { url } }, use) => {
    const proxy = await FaultProxy.open(Number(new URL(url).port));
    const pool = await createDatabase(proxy.address(url), { poolSize: 1 });
    await use({ proxy, pool });
    await pool.close();
    await proxy.close();
  },
});
