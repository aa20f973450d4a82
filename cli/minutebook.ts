import { Command } from 'commander';
import { ConfigError } from '../runtime/config.js';
import { DependencyError, messageOf } from '../runtime/failure.js';
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

try {
  await program.parseAsync();
} catch (error) {
  const isOperational = error instanceof ConfigError || error instanceof DependencyError;
  console.error(isOperational ? messageOf(error) : error);
  process.exit(1);
}
