import { z } from 'zod';
import type { CallerWithRoles } from '../../billing-api/edge/request-context.js';
import { isRefusal, type Refusal } from '../../billing-api/records/refusal.js';
import { systemClock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { VerbRefused } from '../verb-refused.js';

const findOperator = statement(
  'find-operator',
  z.object({ tenant_id: z.string(), environment_id: z.string(), user_id: z.string() }),
);

type Place = {
  readonly environmentId?: string | undefined;
  readonly secretId?: string;
  readonly tenantId?: string;
};

/**
 * The super_admin in whose name an operator's verb works, so that the audit trail has what it does.
 * @throws VerbRefused that names what does not exist.
 */
export async function operatorOf(database: Database, place: Place): Promise<CallerWithRoles> {
  const { environmentId = null, secretId = null, tenantId = null } = place;
  const found = await database.slonik.maybeOne(findOperator({ environmentId, secretId, tenantId }));
  if (found === null) {
    const what =
      secretId ?? environmentId ?? tenantId ?? 'a first environment (run npm start once)';
    throw new VerbRefused(`${what} does not exist, or its tenant has no super_admin`);
  }
  return {
    environment: { tenantId: found.tenant_id, environmentId: found.environment_id },
    userId: found.user_id,
    roles: ['super_admin'],
    apiKeyId: null,
    requestId: createId('req'),
    claim: null,
  };
}

/** @throws VerbRefused with the reason why the operation was refused. */
export function done<T>(result: T | Refusal): T {
  if (isRefusal(result)) throw new VerbRefused(result.message);
  return result;
}

/** What an operator's verb writes with. */
export const writing = (database: Database) => ({
  database,
  clock: systemClock,
  createId,
  // Programs that run look a key up anew within a second.
  forgetCallers: () => undefined,
});
