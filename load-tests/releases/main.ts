import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../runtime/project.js';
import { keptReleaseFile, packRelease } from './kept-release.js';

/**
 * `npm run keep-release [-- --of FOLDER]`: keeps the programs of a built checkout, which is this
 * one unless another is named, so that the next release is tested beside them. A kept one never
 * changes.
 */
const { values } = parseArgs({ options: { of: { type: 'string', default: projectRoot } } });
const { version, packed } = packRelease(values.of);
const file = keptReleaseFile(version);
if (existsSync(file)) {
  console.error(`${file} exists: raise the version in package.json after a release`);
  process.exit(1);
}
writeFileSync(file, packed);
console.log(`Kept release ${version} in ${file} (${Math.round(packed.length / 1024)} KiB)`);
