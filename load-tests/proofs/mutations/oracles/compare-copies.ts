import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../../../runtime/failure.js';
import type * as Agreement from '../../pricing-oracle/agreement/agreement-run.js';
import { invoiceChain, type ChainLink } from '../../pricing-oracle/agreement/invoice-chain.js';
import { randomCase } from '../../pricing-oracle/random/random-subscription.js';
import type * as CoreAgreement from '../../usage-oracle/agreement/core-agreement.js';
import type { MutationOutcome } from '../mutation.js';

/**
 * A process of its own: it is sent the root of a copy, compares the core there with the oracles and
 * sends the outcome back. The invoices of the oracle are computed once for all copies.
 */

/** Which cases are compared: always the same ones, so that a run says the same everywhere. */
export type Cases = {
  readonly firstSeed: number;
  readonly pricingMax: number;
  readonly usageMax: number;
};

/** What is sent to the process. */
export type ComparisonRequest = { readonly root: string; readonly cases: Cases };

const chains = new Map<number, readonly ChainLink[]>();

function chainOf(seed: number): readonly ChainLink[] {
  const chain = chains.get(seed) ?? invoiceChain(seed, randomCase(seed));
  chains.set(seed, chain);
  return chain;
}

async function importFrom<Module>(root: string, name: string): Promise<Module> {
  const path = join(root, 'dist/load-tests/proofs', `${name}.js`);
  return (await import(pathToFileURL(path).href)) as Module;
}

type Finding = { readonly kind: 'difference' | 'crash'; readonly text: string };

/**
 * Stops at the first difference. A crash proves nothing by itself, and a later case may show a
 * difference.
 */
function firstOf(
  firstSeed: number,
  casesMax: number,
  findingsOf: (seed: number) => readonly Finding[],
): MutationOutcome {
  let crash: string | null = null;
  for (let seed = firstSeed; seed < firstSeed + casesMax; seed += 1) {
    const found = findingsOf(seed);
    const difference = found.find(({ kind }) => kind === 'difference');
    if (difference !== undefined) return { kind: 'caught', finding: difference.text };
    crash ??= found[0]?.text.split('\n', 1)[0] ?? null;
  }
  return crash === null ? { kind: 'missed' } : { kind: 'broken', why: crash };
}

async function comparePricing(root: string, cases: Cases): Promise<MutationOutcome> {
  const { findingsOfLink } = await importFrom<typeof Agreement>(
    root,
    'pricing-oracle/agreement/agreement-run',
  );
  return firstOf(cases.firstSeed, cases.pricingMax, (seed) =>
    chainOf(seed).flatMap((link) => findingsOfLink(seed, link)),
  );
}

/** The usage oracle and the core, on the same events, without a store. */
async function compareUsage(root: string, cases: Cases): Promise<MutationOutcome> {
  const { findingsOfCore } = await importFrom<typeof CoreAgreement>(
    root,
    'usage-oracle/agreement/core-agreement',
  );
  return firstOf(cases.firstSeed, cases.usageMax, findingsOfCore);
}

/** Either oracle may notice. */
async function compare({ root, cases }: ComparisonRequest): Promise<MutationOutcome> {
  const ofPricing = await comparePricing(root, cases);
  if (ofPricing.kind === 'caught') return ofPricing;
  const ofUsage = await compareUsage(root, cases);
  return ofUsage.kind === 'missed' ? ofPricing : ofUsage;
}

process.on('message', (request: ComparisonRequest) => {
  void compare(request)
    .catch((error: unknown): MutationOutcome => ({ kind: 'broken', why: messageOf(error) }))
    .then((outcome) => process.send?.(outcome));
});
process.on('disconnect', () => process.exit());
