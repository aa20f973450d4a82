import { Option, type Command } from 'commander';
import type { SecretDto } from '../../billing-api/declarations/platform/key.resource.js';
import { createOperatorKey, listOperatorKeys, revokeOperatorKey } from './operator-keys.js';
import { withOwnerDatabase } from './owner-database.js';

function print(key: SecretDto): void {
  const roles = key.roles.length === 0 ? 'no roles' : key.roles.join(', ');
  const until = key.expires_at === null ? '' : `, expires ${key.expires_at}`;
  console.log(`${key.id}  ${key.display_id}  ${key.name}`);
  console.log(`  ${key.type} of ${key.user_type} ${key.user_id}: ${roles}${until}`);
  console.log(`  last used: ${key.last_used_at ?? 'never'}`);
}

async function list(options: { environment?: string }): Promise<void> {
  const keys = await withOwnerDatabase((database) =>
    listOperatorKeys(database, options.environment),
  );
  for (const key of keys) print(key);
}

type CreateOptions = {
  readonly name: string;
  readonly type: SecretDto['type'];
  readonly environment?: string;
  readonly serviceAccount?: string;
  readonly expires?: string;
};

/** The key goes to standard output alone, so that a script can take it. */
async function create(options: CreateOptions): Promise<void> {
  const { name, type, environment, serviceAccount, expires } = options;
  const { id, apiKey } = await withOwnerDatabase((database) =>
    createOperatorKey(database, {
      name,
      type,
      environmentId: environment,
      ...(serviceAccount === undefined ? {} : { service_account_id: serviceAccount }),
      ...(expires === undefined ? {} : { expires_at: expires }),
    }),
  );
  console.error(`${id} was made. Keep the key: it is not shown again.`);
  console.log(apiKey);
}

async function revoke(ids: readonly string[]): Promise<void> {
  await withOwnerDatabase(async (database) => {
    for (const id of ids) {
      await revokeOperatorKey(database, id);
      console.error(`${id} was revoked`);
    }
  });
}

/** Adds `minutebook keys list|create|revoke` for operators, also while the product runs. */
export function addKeysVerb(program: Command): void {
  const verb = program.command('keys').description('list, make or revoke API keys');
  const environment = new Option('--environment <id>', 'instead of the first one of production');
  verb.command('list').addOption(environment).action(list);
  verb
    .command('create')
    .description('make a key of the oldest super_admin, or of a service account')
    .addOption(environment)
    .addOption(
      new Option('--type <type>', 'what the key is for')
        .choices(['private_key', 'publishable_key'])
        .default('private_key'),
    )
    .option('--name <name>', 'as lists show it', 'Made by an operator')
    .option('--service-account <id>', 'whose key it is')
    .option('--expires <date-time>', 'from when on it is refused')
    .action(create);
  verb.command('revoke').argument('<ids...>', 'ids as list shows them').action(revoke);
}
