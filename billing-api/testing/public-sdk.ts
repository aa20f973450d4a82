import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProgram } from '../../cli/kafka/kafka-jars.js';
import { messageOf } from '../../runtime/failure.js';
import { projectRoot } from '../../runtime/project.js';

/**
 * A client of the same domain that anybody can install. Its package names no licence, so that it is
 * no dependency of ours: a test fetches it, and nothing of it is kept in the project.
 */
const SDK = '@flexprice/sdk';
const SDK_VERSION = '2.0.1';
/**
 * What checks the answers inside the SDK, which takes any 4. A strict one refuses an answer that
 * leaves out any member that the SDK knows.
 */
export const ZOD_VERSIONS = [
  { zod: '4.1.12', isStrict: false },
  { zod: '4.6.7', isStrict: true },
] as const;
const DOWNLOAD_TIMEOUT_MS = 180_000;

/** What a function of the SDK answers: never a rejection. */
type Outcome =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: Error };

/** A function of the SDK, and the operation that it calls. */
export type SdkFunction = {
  readonly name: string;
  readonly method: string;
  /** As the SDK has it: `/plans/{id}`. */
  readonly path: string;
  /** Names of its parameters in their order, without those of the SDK itself. */
  readonly parameters: readonly string[];
  readonly call: (values: readonly unknown[]) => Promise<Outcome>;
};

/** The functions of the SDK for a server, or why they cannot be had. */
export type SdkOffer =
  | {
      readonly open: (server: Server) => Promise<readonly SdkFunction[]>;
      readonly skipReason: null;
    }
  | { readonly open: null; readonly skipReason: string };

type Server = { readonly url: string; readonly apiKey: string };
type Functions = Readonly<Record<string, (...values: readonly unknown[]) => Promise<Outcome>>>;

/** The folder with the SDK. It is fetched once into another folder, which is then renamed. */
async function fetchSdk(zod: string): Promise<string> {
  const cache = join(projectRoot, '.cache');
  const directory = join(cache, `public-sdk-${SDK_VERSION}-${zod}`);
  if (existsSync(directory)) return directory;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'public-sdk-fetch-'));
  try {
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--prefix', draft];
    // Without a network it is soon known that it cannot be had.
    quiet.push('--fetch-retries=1');
    const wanted = [`${SDK}@${SDK_VERSION}`, `zod@${zod}`];
    await runProgram('npm', ['install', ...quiet, ...wanted], DOWNLOAD_TIMEOUT_MS);
    // Another process may have been faster; its copy is the same.
    if (!existsSync(directory)) await rename(draft, directory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return directory;
}

/** What its files say of a function: they are generated and alike. */
function describe(folder: string, file: string) {
  const text = readFileSync(join(folder, `${file}.js`), 'utf8');
  const types = readFileSync(join(folder, `${file}.d.ts`), 'utf8');
  const path = /pathToFunc\("([^"]+)"/.exec(text)?.[1];
  const method = /method: "([A-Z]+)"/.exec(text)?.[1];
  const declared = /declare function (\w+)\(client: \w+, (.*)options\?: RequestOptions/.exec(types);
  if (path === undefined || method === undefined || declared === null) return null;
  const [, name = '', list = ''] = declared;
  const parameters = [...list.matchAll(/(\w+)\??: [^,]+(?:<[^>]*>)?[^,]*, /g)].map(
    ([, one = '']) => one,
  );
  return { name, method, path, parameters };
}

async function open(directory: string, { url, apiKey }: Server): Promise<readonly SdkFunction[]> {
  const esm = join(directory, 'node_modules', ...SDK.split('/'), 'esm');
  const folder = join(esm, 'funcs');
  const load = (file: string): Promise<unknown> => import(pathToFileURL(file).href);
  const core = (await load(join(esm, 'core.js'))) as {
    readonly FlexpriceCore: new (options: object) => object;
  };
  const clientOf = (serverURL: string) => new core.FlexpriceCore({ serverURL, apiKeyAuth: apiKey });
  const client = clientOf(`${url}/v1`);
  // Some of its paths have the version, although its address has it too.
  const versioned = clientOf(url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const functions = files.map(async (name): Promise<readonly SdkFunction[]> => {
    const described = describe(folder, name.slice(0, -'.js'.length));
    if (described === null) return [];
    const loaded = ((await load(join(folder, name))) as Functions)[described.name];
    if (loaded === undefined) return [];
    const own = described.path.startsWith('/v1/') ? versioned : client;
    return [{ ...described, call: (values) => loaded(own, ...values) }];
  });
  return (await Promise.all(functions)).flat();
}

/**
 * The SDK beside a version of zod, or why it cannot be had, which skips the test. With
 * `REQUIRE_SDK=1` it is an error to have none.
 */
export async function obtainSdk(zod: string): Promise<SdkOffer> {
  try {
    const directory = await fetchSdk(zod);
    return { open: (server) => open(directory, server), skipReason: null };
  } catch (error) {
    if (process.env['REQUIRE_SDK'] === '1') throw error;
    return { open: null, skipReason: `npm could not fetch ${SDK}: ${messageOf(error)}` };
  }
}
