import { Command } from 'commander';
import { messageOf } from '../runtime/failure.js';
import { isForOperator } from '../runtime/lifecycle.js';
import { outageOf } from '../sql/outage.js';
import { addBackupVerbs } from './backup/backup-verb.js';
import { addDeadLettersVerb } from './dead-letters-verb.js';
import { addClickHouseVerb } from './backup/clickhouse-verb.js';
import { addCustomersVerb } from './operator/erase/customers-verb.js';
import { addKeysVerb } from './operator/keys-verb.js';
import { addLogVerb } from './operator/log-verb.js';
import { addBillingVerb } from './look/billing-verb.js';
import { addInvoiceVerbs } from './look/invoice-verbs.js';
import { addLookVerbs } from './look/look-verbs.js';
import { runDemoVerb } from './demo/demo-verb.js';
import { runKafkaVerb } from './kafka/kafka-verb.js';
import { runMigrateVerb } from './migrate-verb.js';
import { runStartVerb } from './start.js';
import { addSecretsVerb } from './operator/secrets-verb.js';
import { addTenantsVerb } from './operator/tenants-verb.js';
import { VerbRefused } from './stack/verb-refused.js';

const program = new Command('minutebook').description(
  'Usage metering and billing whose numbers can be audited.',
);
program
  .command('start', { isDefault: true })
  .description('run the whole product on one port until Ctrl-C')
  .action(runStartVerb);
program
  .command('demo')
  .description('count ten thousand real web requests, a third sent twice, and show the invoices')
  .argument('[file]', 'access log in the combined log format, plain or gzipped')
  .action(runDemoVerb);
program
  .command('kafka')
  .description('run a local Apache Kafka broker until Ctrl-C')
  .allowUnknownOption()
  .argument('[options...]')
  .action((options: string[]) => runKafkaVerb(options));
program
  .command('migrate')
  .description('prepare or upgrade the tables of the servers of DATABASE_URL and CLICKHOUSE_URL')
  .action(runMigrateVerb);
addDeadLettersVerb(program);
addKeysVerb(program);
addTenantsVerb(program);
addSecretsVerb(program);
addLogVerb(program);
addClickHouseVerb(program);
addCustomersVerb(program);
addBackupVerbs(program);
addLookVerbs(program);
addInvoiceVerbs(program);
addBillingVerb(program);

/** One sentence for what an operator can mend; everything for a bug. */
function endWith(error: unknown): never {
  const isPlain = isForOperator(error) || error instanceof VerbRefused;
  console.error(isPlain ? messageOf(error) : error);
  process.exit(1);
}

// What a library reports to nobody, such as a server that goes away while a pool opens.
process.on('uncaughtException', (error) => endWith(outageOf(error)));
try {
  await program.parseAsync();
} catch (error) {
  endWith(error);
}
