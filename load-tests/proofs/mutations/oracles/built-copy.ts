import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { makeMutatedCopy, type MutatedCopy } from '../mutated-copy.js';
import type { Edit } from '../mutation.js';

/** The core, and what compares it with the oracles. */
const COPIED = [
  'billing-api/domain',
  'dist/billing-api/domain',
  'dist/contract',
  'dist/load-tests/harness',
  'dist/load-tests/proofs/pricing-oracle',
  'dist/load-tests/proofs/usage-oracle',
  'dist/runtime/failure.js',
  'package.json',
];

/** A copy of the build whose edited sources were compiled again, each by itself. */
export function makeBuiltCopy(edits: readonly Edit[]): MutatedCopy {
  const copy = makeMutatedCopy(COPIED, edits);
  for (const path of new Set(edits.map((edit) => edit.path))) {
    const source = readFileSync(join(copy.root, path), 'utf8');
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    writeFileSync(join(copy.root, 'dist', path.replace(/\.ts$/, '.js')), outputText);
  }
  return copy;
}
