import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { currentRules, rulesOf } from '../../../billing-api/domain/invoice/pricing/rules.js';
import {
  decodeSnapshot,
  encodeSnapshot,
} from '../../../billing-api/domain/invoice/snapshot/invoice-snapshot.js';
import { bothAnswers } from '../pricing-oracle/agreement/product-document.js';
import { bytesOf, goldenInvoice } from './golden-invoice.js';

/** The folder of a version of the rules; folders are never changed, only added. */
const VERSIONS = Array.from({ length: currentRules().version }, (_, index) => `rules-${index + 1}`);

const files = VERSIONS.flatMap((version) => {
  const folder = fileURLToPath(new URL(`${version}/`, import.meta.url));
  return readdirSync(folder).map((name) => [`${version}/${name}`, `${folder}${name}`] as const);
});

describe('invoices that earlier releases computed', () => {
  it.each(files)('%s has the same bytes from its stored inputs', (_, path) => {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { snapshot, result } = goldenInvoice.parse(read);
    const decoded = decodeSnapshot(snapshot);
    expect(JSON.parse(bytesOf(decoded))).toEqual(JSON.parse(result));
    expect(bytesOf(decoded)).toBe(result);
    expect(encodeSnapshot(decoded)).toBe(snapshot);
  });

  it.each(files)('%s is answered from its rows as it is when it is computed', (_, path) => {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { inputs, rulesVersion } = decodeSnapshot(goldenInvoice.parse(read).snapshot);
    const { computed, stored } = bothAnswers(inputs, rulesOf(rulesVersion).buildInvoice(inputs));
    expect(JSON.parse(stored)).toEqual(JSON.parse(computed));
    expect(stored).toBe(computed);
  });

  it('are kept for every version of the rules', () => {
    for (const version of VERSIONS) {
      expect(files.filter(([name]) => name.startsWith(version)).length).toBeGreaterThan(10);
    }
  });
});
