import type { Command } from 'commander';
import { formatInstant } from '../../contract/instant.js';
import { listOperatorTenants, setTenantStatus } from './operator-tenants.js';
import { withOwnerDatabase } from './owner-database.js';

async function list(): Promise<void> {
  for (const tenant of await withOwnerDatabase(listOperatorTenants)) {
    const since = formatInstant(tenant.created_at);
    console.log(`${tenant.id}  ${tenant.status}  ${tenant.name}`);
    console.log(`  ${tenant.environments} environments, since ${since}`);
  }
}

async function setStatus(ids: readonly string[], status: 'active' | 'suspended'): Promise<void> {
  await withOwnerDatabase(async (database) => {
    for (const id of ids) {
      await setTenantStatus(database, id, status);
      console.error(`${id} is ${status}`);
    }
  });
}

/** Adds `minutebook tenants list|suspend|resume` for operators, also while the product runs. */
export function addTenantsVerb(program: Command): void {
  const verb = program
    .command('tenants')
    .description('list tenants, suspend them or let them go on');
  verb.command('list').action(list);
  verb
    .command('suspend')
    .description('let them read and not write: events are refused, too')
    .argument('<ids...>', 'ids as list shows them')
    .action((ids: string[]) => setStatus(ids, 'suspended'));
  verb
    .command('resume')
    .description('let them write again')
    .argument('<ids...>', 'ids as list shows them')
    .action((ids: string[]) => setStatus(ids, 'active'));
}
