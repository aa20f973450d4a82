import { Command } from 'commander';
import { ConfigError } from '../runtime/config.js';
import { DependencyError, messageOf } from '../runtime/failure.js';
import { outageOf } from '../sql/outage.js';
import { addDeadLettersVerb } from './dead-letters-verb.js';
import { runDemoVerb } from './demo/demo-verb.js';
import { runKafkaVerb } from './kafka/kafka-verb.js';
import { runStartVerb } from './start.js';

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
addDeadLettersVerb(program);

/** One sentence for what an operator can mend; everything for a bug. */
function endWith(error: unknown): never {
  const isOperational = error instanceof ConfigError || error instanceof DependencyError;
  console.error(isOperational ? messageOf(error) : error);
  process.exit(1);
}

// What a library reports to nobody, such as a server that goes away while a pool opens.
process.on('uncaughtException', (error) => endWith(outageOf(error)));
try {
  await program.parseAsync();
} catch (error) {
  endWith(error);
}
