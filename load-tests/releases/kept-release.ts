import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { z } from 'zod';
import { projectRoot } from '../../runtime/project.js';

/** The compiled programs and verbs. */
const COMPILED = [
  'aggregator',
  'billing-api',
  'cli',
  'clickhouse',
  'contract',
  'event-log',
  'ingest',
  'runtime',
  'sql',
].map((folder) => join('dist', folder));
/** What they read while they run. */
const READ = [
  join('sql', 'migrations'),
  join('sql', 'functions'),
  join('sql', 'queries'),
  join('clickhouse', 'migrations'),
  join('clickhouse', 'queries'),
  join('billing-api', 'generated'),
];
const NOT_RUN = /\.test\.js$|\/testing\//;

const packageFile = z.object({ version: z.string() });
/** Path below the root of the release to its text. */
const filesOfRelease = z.record(z.string());

/** A release that is kept, as one file of this folder. */
export function keptReleaseFile(version: string): string {
  return join(projectRoot, 'load-tests', 'releases', `${version}.json.br`);
}

function filesBelow(root: string, folder: string, extension: string): readonly string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => relative(root, join(entry.path, entry.name)))
    .filter((path) => !NOT_RUN.test(path));
}

/** The version of a built checkout, and what is needed to run its programs, but its packages. */
export function packRelease(root: string): { readonly version: string; readonly packed: Buffer } {
  const paths = [
    'package.json',
    ...COMPILED.flatMap((folder) => filesBelow(root, folder, '.js')),
    ...READ.flatMap((folder) => ['.sql', '.json'].flatMap((end) => filesBelow(root, folder, end))),
  ].sort();
  const texts = paths.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  const text = JSON.stringify(Object.fromEntries(texts));
  // Most files are alike, and a window of 16 MiB holds all of them.
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  const { version } = packageFile.parse(
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
  );
  return { version, packed: brotliCompressSync(text, { params }) };
}

/**
 * Puts a kept release into an empty directory, from which its programs can be started. They use the
 * packages of this checkout.
 */
export async function unpackRelease(version: string, directory: string): Promise<void> {
  const packed = await readFile(keptReleaseFile(version));
  const files = filesOfRelease.parse(JSON.parse(brotliDecompressSync(packed).toString('utf8')));
  for (const [path, text] of Object.entries(files)) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  await symlink(join(projectRoot, 'node_modules'), join(directory, 'node_modules'), 'dir');
}
