import { userInfo } from 'node:os';
import { z } from 'zod';
import type { OccasionWithRoles } from '../../billing-api/edge/request-context.js';
import type { OperatorActor } from '../../billing-api/records/occasion.js';
import { isRefusal, type Refusal } from '../../billing-api/records/refusal.js';
import { systemClock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { VerbRefused } from '../stack/verb-refused.js';

const findOperatedEnvironment = statement(
  'find-operated-environment',
  z.object({
    tenant_id: z.string(),
    environment_id: z.string(),
    administrator_id: z.string().nullable(),
  }),
);

type Place = {
  readonly environmentId?: string | undefined;
  readonly secretId?: string;
  readonly tenantId?: string;
};

/** The name of the account under which the program runs; an account need not have one. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Whoever has started the program: the audit trail says so. */
export const operator = (): OperatorActor => ({ kind: 'operator', name: accountName() });

/** Where an operator's verb works, and the oldest super_admin there; null when there is none. */
export type OperatorsOccasion = OccasionWithRoles<OperatorActor> & {
  readonly administratorId: string | null;
};

/** @throws VerbRefused that names what does not exist. */
export async function operatorsOccasion(
  database: Database,
  place: Place,
): Promise<OperatorsOccasion> {
  const { environmentId = null, secretId = null, tenantId = null } = place;
  const found = await database.slonik.maybeOne(
    findOperatedEnvironment({ environmentId, secretId, tenantId }),
  );
  if (found === null) {
    const what =
      secretId ?? environmentId ?? tenantId ?? 'a first environment (run npm start once)';
    throw new VerbRefused(`${what} does not exist`);
  }
  return {
    environment: { tenantId: found.tenant_id, environmentId: found.environment_id },
    actor: operator(),
    // An operator may hand out whatever can be handed out.
    roles: ['super_admin'],
    administratorId: found.administrator_id,
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
