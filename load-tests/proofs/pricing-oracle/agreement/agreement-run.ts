import { randomCase } from '../random/random-subscription.js';
import { differences } from './difference.js';
import { invoiceChain, type ChainLink } from './invoice-chain.js';
import { ProductFinding } from './product-finding.js';
import { productInvoice } from './product-invoice.js';

export type AgreementRun = {
  readonly agreed: number;
  readonly differed: number;
  /** Invoices and lines that were compared. */
  readonly invoices: number;
  readonly lines: number;
};

export type AgreementOptions = {
  /** Case number n is that of seed `firstSeed + n`, the same on every machine. */
  readonly firstSeed: number;
  readonly casesMax: number;
  readonly onCase: (done: number) => void;
  /** What differs in a case, one text per member. */
  readonly onDifference: (texts: readonly string[]) => void;
};

function describe(seed: number, { question }: ChainLink, what: string): string {
  return `seed ${seed}, ${question.reference} of period ${question.rowIndex}: ${what}`;
}

/** What is wrong with an invoice: it differs from the oracle's, or there is none. */
export type LinkFinding = { readonly kind: 'difference' | 'crash'; readonly text: string };

/** Everything that the product says otherwise of one invoice. */
export function findingsOfLink(seed: number, link: ChainLink): readonly LinkFinding[] {
  try {
    const actual = productInvoice(link.subscription, link.question);
    return differences(link.expected, actual).map(({ where, expected, actual: other }) => ({
      kind: 'difference',
      text: describe(seed, link, `${where}: oracle ${expected}, product ${other}`),
    }));
  } catch (error) {
    if (error instanceof ProductFinding) {
      return [{ kind: 'difference', text: describe(seed, link, `product: ${error.message}`) }];
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ kind: 'crash', text: describe(seed, link, `product: ${text}`) }];
  }
}

/** Prices random subscriptions with the product's core and with the oracle. */
export function runAgreement(options: AgreementOptions): AgreementRun {
  const { firstSeed, casesMax, onCase, onDifference } = options;
  let [agreed, invoices, lines] = [0, 0, 0];
  for (let done = 0; done < casesMax; done += 1) {
    const seed = firstSeed + done;
    const chain = invoiceChain(seed, randomCase(seed));
    const texts = chain.flatMap((link) => findingsOfLink(seed, link).map(({ text }) => text));
    if (texts.length === 0) agreed += 1;
    else onDifference(texts);
    invoices += chain.length;
    lines += chain.reduce((total, { expected }) => total + expected.lines.length, 0);
    onCase(done + 1);
  }
  return { agreed, differed: casesMax - agreed, invoices, lines };
}
