import { SOURCE_FOLDERS } from './build.mjs';
import { binaries, runTool, stamps } from './tools.mjs';
import { join } from 'node:path';

const cached = (name) => [
  '--cache',
  '--cache-strategy',
  'content',
  '--cache-location',
  join(stamps, name),
];
/** Checks beside that of types, which is part of the build: name, tool, parameters. */
const CHECKS = [
  [
    'lint',
    'eslint',
    ['-c', '.config/eslint.config.js', '--max-warnings=0', ...cached('eslint'), '.'],
  ],
  [
    'format',
    'prettier',
    [
      '--config',
      '.config/prettier.json',
      '--check',
      '--log-level',
      'warn',
      ...cached('prettier'),
      '**/*.{ts,tsx,mjs,js,cjs}',
    ],
  ],
  [
    'imports',
    'depcruise',
    ['--config', '.config/dependency-cruiser.cjs', '--output-type', 'err', ...SOURCE_FOLDERS],
  ],
  ['dead code', 'knip', ['--config', '.config/knip.json', '--no-progress']],
];

/**
 * Checks style, imports and dead code, one after the other beside what else happens. Each is told
 * with `say` when it ends. Resolves to what each found; null where it passed.
 */
export async function runChecks(say) {
  const checks = [];
  for (const [name, tool, parameters] of CHECKS) {
    const startedAt = performance.now();
    const { code, said } = await runTool(join(binaries, tool), parameters);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    say(`check: ${name} ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
    checks.push({ name, findings: code === 0 ? null : said.trim() });
  }
  return checks;
}

/**
 * The end of a run of checks and tests: what the checks found, and the last line `N passed, N failed`,
 * which counts tests, and each check that failed as one failure.
 * @param counts those of the tests; null when the tests ended without any
 */
export function endOfRun(checks, counts) {
  const failed = checks.filter(({ findings }) => findings !== null);
  const lines = failed.flatMap(({ name, findings }) => [`check: ${name} FAILED`, findings, '']);
  if (counts === null) return [...lines, 'The tests ended without a result.'];
  if (counts.skipped > 0) lines.push(`${counts.skipped} skipped`);
  return [...lines, `${counts.passed} passed, ${counts.failed + failed.length} failed`];
}
