import type { Command } from 'commander';
import { formatInstant } from '../../contract/instant.js';
import { VerbRefused } from '../verb-refused.js';
import { eraseCustomer } from './erase/erase-customer.js';
import { withErasureStores, type ErasureStores } from './erase/erasure-stores.js';
import { listUnfinished } from './erase/erasures-store.js';
import { findErasedCustomer, type CustomerName } from './erase/named-customer.js';
import { countEvents } from './erase/stored-rows.js';
import { operatorsOccasion } from './as-operator.js';

type EraseOptions = {
  readonly environment: string;
  readonly externalId?: string;
  readonly yes?: true;
};

function nameFrom(id: string | undefined, externalId: string | undefined): CustomerName {
  if (id !== undefined && externalId === undefined) return { kind: 'id', id };
  if (id === undefined && externalId !== undefined) return { kind: 'external_id', externalId };
  throw new VerbRefused('name the customer by its id or by --external-id, and not by both');
}

async function erase(
  stores: ErasureStores,
  named: CustomerName,
  { environment: environmentId, yes }: EraseOptions,
): Promise<void> {
  const occasion = await operatorsOccasion(stores.database, { environmentId });
  const { environment } = occasion;
  const customer = await findErasedCustomer(stores.database, environment, named);
  const references = [...customer.externalIds, ...customer.ids].join(', ');
  if (yes !== true) {
    const events = await countEvents(stores.clickhouse, { environment, customer });
    throw new VerbRefused(
      `nothing was erased yet: ${events} stored events of ${references} in ${environmentId} would be erased, and those that wait in the log; add --yes to erase them for ever`,
    );
  }
  console.error(`Erasing the events of ${references} in ${environmentId}.`);
  const { id, events, duplicates, letters } = await eraseCustomer(stores, occasion, customer);
  console.log(`${id}: ${events} events of ${customer.name} were erased`);
  console.log(`  and the texts of ${duplicates} duplicates, and ${letters} dead letters`);
  for (const left of await listUnfinished(stores.database, environment)) {
    const since = formatInstant(left.started_at);
    console.error(`The erasure of ${left.customer} of ${since} was cut short: run it again.`);
  }
}

/** Adds `minutebook customers erase` for operators, also while the product runs. */
export function addCustomersVerb(program: Command): void {
  const verb = program.command('customers').description('erase the events of a customer');
  verb
    .command('erase')
    .description('remove all events that were accepted of a customer, and their usage, for ever')
    .argument('[id]', 'our id of the customer')
    .option('--external-id <id>', 'instead: the id by which events name the customer')
    .requiredOption('--environment <id>', 'where the customer is')
    .option('--yes', 'erase, instead of saying how many events there are')
    .action(async (id: string | undefined, options: EraseOptions) => {
      const named = nameFrom(id, options.externalId);
      await withErasureStores(process.env, (stores) => erase(stores, named, options));
    });
}
