import { InvalidArgumentError, type Command } from 'commander';
import { formatInstant } from '../../contract/instant.js';
import { createOperatorTenant } from './create-tenant.js';
import { listOperatorTenants, setTenantLimits, setTenantStatus } from './operator-tenants.js';
import { withOwnerDatabase } from './owner-database.js';

async function list(): Promise<void> {
  for (const tenant of await withOwnerDatabase(listOperatorTenants)) {
    const since = formatInstant(tenant.created_at);
    console.log(`${tenant.id}  ${tenant.status}  ${tenant.name}`);
    console.log(`  ${tenant.environments} environments, since ${since}`);
  }
}

/** The key goes to standard output alone, so that a script can take it. */
async function create(name: string): Promise<void> {
  const { tenantId, environmentId, apiKey } = await withOwnerDatabase((database) =>
    createOperatorTenant(database, name),
  );
  console.error(
    `${tenantId} was made. Production: ${environmentId}; a development environment was made, too.`,
  );
  console.error('Keep the key of the production environment: it is not shown again.');
  console.log(apiKey);
}

async function setStatus(ids: readonly string[], status: 'active' | 'suspended'): Promise<void> {
  await withOwnerDatabase(async (database) => {
    for (const id of ids) {
      await setTenantStatus(database, id, status);
      console.error(`${id} is ${status}`);
    }
  });
}

type LimitOptions = {
  readonly users?: number;
  readonly productionEnvironments?: number;
  readonly developmentEnvironments?: number;
  readonly defaults?: true;
};

function changeOf(options: LimitOptions) {
  if (options.defaults === true) return 'defaults';
  const { users, productionEnvironments: production } = options;
  const { developmentEnvironments: development } = options;
  return {
    ...(users === undefined ? {} : { users }),
    ...(production === undefined ? {} : { production_environments: production }),
    ...(development === undefined ? {} : { development_environments: development }),
  };
}

async function limits(id: string, options: LimitOptions): Promise<void> {
  const applies = await withOwnerDatabase((database) =>
    setTenantLimits(database, id, changeOf(options)),
  );
  for (const [name, count] of Object.entries(applies)) console.log(`${name}  ${String(count)}`);
}

function countOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number.');
}

/** Adds `minutebook tenants` with its verbs for operators, also while the product runs. */
export function addTenantsVerb(program: Command): void {
  const verb = program
    .command('tenants')
    .description('list or make tenants, say what they may have, suspend them or let them go on');
  verb.command('list').action(list);
  verb
    .command('create')
    .description('make a tenant with its environments, and print its first key')
    .argument('<name>', 'as invoices and lists show it')
    .action(create);
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
  verb
    .command('limits')
    .description('show how many users and environments a tenant may have, or change it')
    .argument('<id>', 'as list shows it')
    .option('--users <count>', 'users and service accounts', countOf)
    .option('--production-environments <count>', 'environments of production', countOf)
    .option('--development-environments <count>', 'environments of development', countOf)
    .option('--defaults', 'the defaults apply again')
    .action(limits);
}
