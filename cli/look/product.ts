import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig, type Config } from '../../runtime/config.js';
import { codeOf } from '../../runtime/failure.js';
import { ApiClient, UnexpectedAnswer } from './api-client.js';
import { VerbRefused } from '../stack/verb-refused.js';

type Environment = Readonly<Record<string, string | undefined>>;
type Settings = Config<
  | 'MINUTEBOOK_URL'
  | 'MINUTEBOOK_API_KEY'
  | 'MINUTEBOOK_PORT'
  | 'MINUTEBOOK_BOOTSTRAP_API_KEY'
  | 'MINUTEBOOK_DATA_DIR'
>;

const MAKE_ONE = '`npx minutebook keys create` makes one';

/** The given key, or the one that `npm start` uses: its setting, or the file that it keeps. */
async function keyFrom(settings: Settings): Promise<string> {
  const given = settings.MINUTEBOOK_API_KEY ?? settings.MINUTEBOOK_BOOTSTRAP_API_KEY;
  if (given !== undefined) return given;
  const file = join(settings.MINUTEBOOK_DATA_DIR, 'first-api-key');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new VerbRefused(
      `there is no API key: set MINUTEBOOK_API_KEY (${file}, the key of \`npm start\`, cannot be read; ${MAKE_ONE})`,
    );
  }
}

/** The address with the prefix of the interface, whether it was given with it or not. */
function baseUrlFrom(settings: Settings): string {
  const given = settings.MINUTEBOOK_URL ?? `http://127.0.0.1:${settings.MINUTEBOOK_PORT}`;
  return `${given.replace(/(\/v1)?\/*$/, '')}/v1`;
}

/** The message of the interface, with the members of the request that it names. */
function refusalIn(text: string): string {
  try {
    const { message, details } = JSON.parse(text) as {
      readonly message: string;
      readonly details?: Readonly<Record<string, string>>;
    };
    const named = Object.entries(details ?? {}).map(([name, problem]) => `${name} ${problem}`);
    return [message, ...named].join('; ');
  } catch {
    return text.slice(0, 200);
  }
}

function reasonOf(error: unknown, baseUrl: string): Error {
  if (error instanceof UnexpectedAnswer) {
    const said = refusalIn(error.text);
    return new VerbRefused(
      error.status === 401
        ? `${baseUrl} refuses the API key (${said}): set MINUTEBOOK_API_KEY; ${MAKE_ONE}`
        : `${baseUrl} answers ${error.status}: ${said}`,
    );
  }
  if (error instanceof TypeError) {
    const cause = codeOf(error.cause) ?? error.message;
    return new VerbRefused(
      `nothing answers at ${baseUrl} (${cause}): start the product with \`npm start\`, or set MINUTEBOOK_URL to its address`,
    );
  }
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * Asks the product that the settings name, by default the one of `npm start`.
 * @throws VerbRefused when there is no key or product, or the product refuses; ConfigError.
 */
export async function askProduct<Answer>(
  environment: Environment,
  ask: (api: ApiClient) => Promise<Answer>,
): Promise<Answer> {
  const settings = readConfig(
    [
      'MINUTEBOOK_URL',
      'MINUTEBOOK_API_KEY',
      'MINUTEBOOK_PORT',
      'MINUTEBOOK_BOOTSTRAP_API_KEY',
      'MINUTEBOOK_DATA_DIR',
    ],
    environment,
  );
  const baseUrl = baseUrlFrom(settings);
  const api = new ApiClient(baseUrl, await keyFrom(settings));
  try {
    return await ask(api);
  } catch (error) {
    throw reasonOf(error, baseUrl);
  }
}
