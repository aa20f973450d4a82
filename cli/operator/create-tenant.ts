import { storeNewTenant } from '../../billing-api/platform/auth/new-tenant.js';
import { storeKey } from '../../billing-api/platform/keys/create-key.js';
import { MemberReader } from '../../billing-api/records/member-rules.js';
import { writeUnit } from '../../billing-api/records/unit.js';
import { createId } from '../../runtime/ids.js';
import { createApiKey } from '../../sql/api-key.js';
import type { Database } from '../../sql/pool.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { done, operator, writing } from './as-operator.js';

/** That of a sign-up (billing-api/platform/auth/auth-dto.ts). */
const TENANT_NAME_CHARACTERS_MAX = 255;

export type CreatedTenant = {
  readonly tenantId: string;
  readonly environmentId: string;
  /** Of the environment of production; it cannot be read again. */
  readonly apiKey: string;
};

/** As POST /v1/auth/signup takes it. @throws VerbRefused that says what is wrong. */
function tenantNameOf(text: string): string {
  const reader = new MemberReader();
  const name = reader.name('name', text);
  if (name.length > TENANT_NAME_CHARACTERS_MAX) {
    reader.note('name', `must have at most ${TENANT_NAME_CHARACTERS_MAX} characters`);
  }
  const problems = Object.entries(reader.refusal()?.details ?? {});
  if (problems.length === 0) return name;
  const said = problems.map(([member, problem]) => `${member} ${problem}`);
  throw new VerbRefused(`the tenant was not made: its ${said.join(', ')}`);
}

/**
 * Makes a tenant as a sign-up does, with its environments of production and development, and the
 * first key of its super_admin, who has no password: whoever has the key makes users that sign in.
 * All of it stands in the audit trail of the tenant.
 * @throws VerbRefused when the name cannot be used.
 */
export async function createOperatorTenant(
  database: Database,
  name: string,
): Promise<CreatedTenant> {
  const tenantName = tenantNameOf(name);
  const environment = { tenantId: createId('tenant'), environmentId: createId('env') };
  const occasion = { environment, actor: operator() };
  const apiKey = createApiKey('private_key');
  const key = { apiKey, name: 'First key', type: 'private_key', expires_at: null } as const;
  done(
    await writeUnit(writing(database), occasion, async (unit) => {
      const superAdmin = { userId: createId('user'), email: null, name: 'Administrator' };
      const stored = await storeNewTenant(unit, { ...superAdmin, tenantName });
      return storeKey(unit, { ...key, user: stored.row });
    }),
  );
  return { ...environment, apiKey };
}
