import type { Command } from 'commander';
import { readStackConfig } from '../stack/stack-config.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { withOwnerDatabase } from './owner-database.js';
import { resealSecrets } from './reseal-secrets.js';

/** `minutebook secrets reseal`. */
async function reseal(): Promise<void> {
  const config = readStackConfig(process.env);
  const { MINUTEBOOK_SECRETS_KEY: next, MINUTEBOOK_PREVIOUS_SECRETS_KEY: previous } = config;
  if (next === undefined || previous === undefined) {
    const missing =
      next === undefined ? 'MINUTEBOOK_SECRETS_KEY' : 'MINUTEBOOK_PREVIOUS_SECRETS_KEY';
    throw new VerbRefused(`set ${missing}: both keys are needed, the new one and that until now`);
  }
  const { resealed, unchanged } = await withOwnerDatabase((database) =>
    resealSecrets(database, { next, previous }),
  );
  console.log(
    `${resealed} secrets were sealed with the new key; ${unchanged} were already. MINUTEBOOK_PREVIOUS_SECRETS_KEY is not needed any more.`,
  );
}

/** Adds `minutebook secrets reseal` for operators, also while the product runs. */
export function addSecretsVerb(program: Command): void {
  program
    .command('secrets')
    .description('replace the key with which the secrets of others are kept')
    .command('reseal')
    .description('keep every secret with MINUTEBOOK_SECRETS_KEY, not the previous key')
    .action(reseal);
}
