import type { Command } from 'commander';
import { formatInstant } from '../../../contract/instant.js';
import { VerbRefused } from '../../stack/verb-refused.js';
import { eraseCustomer } from './erase-customer.js';
import { withErasureStores, type ErasureStores } from './erasure-stores.js';
import { listUnfinished } from './erasures-store.js';
import { findErasedCustomers, type CustomerName } from './named-customer.js';
import { countEvents } from './stored-rows.js';
import { operatorsOccasion } from '../as-operator.js';

type EraseOptions = {
  readonly environment: string;
  readonly externalId: readonly string[];
  readonly yes?: true;
};

/** Their references travel in the address of each request to ClickHouse. */
const CUSTOMERS_MAX = 100;

function namesFrom(
  ids: readonly string[],
  externalIds: readonly string[],
): readonly CustomerName[] {
  if ((ids.length === 0) === (externalIds.length === 0)) {
    throw new VerbRefused('name the customers by their ids or by --external-id, and not by both');
  }
  const names = [
    ...ids.map((id) => ({ kind: 'id', id }) as const),
    ...externalIds.map((externalId) => ({ kind: 'external_id', externalId }) as const),
  ];
  if (names.length > CUSTOMERS_MAX) {
    throw new VerbRefused(`name at most ${CUSTOMERS_MAX} customers, and the others later`);
  }
  return names;
}

async function erase(
  stores: ErasureStores,
  named: readonly CustomerName[],
  { environment: environmentId, yes }: EraseOptions,
): Promise<void> {
  const occasion = await operatorsOccasion(stores.database, { environmentId });
  const { environment } = occasion;
  const customer = await findErasedCustomers(stores.database, environment, named);
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
  const verb = program.command('customers').description('erase the events of customers');
  verb
    .command('erase')
    .description('remove all events that were accepted of customers, and their usage, for ever')
    .argument('[ids...]', 'our ids of the customers')
    .option(
      '--external-id <id>',
      'instead: the id by which events name the customer; may be given several times',
      (id: string, ids: readonly string[]) => [...ids, id],
      [],
    )
    .requiredOption('--environment <id>', 'where the customers are')
    .option('--yes', 'erase, instead of saying how many events there are')
    .action(async (ids: readonly string[], options: EraseOptions) => {
      const named = namesFrom(ids, options.externalId);
      await withErasureStores(process.env, (stores) => erase(stores, named, options));
    });
}
