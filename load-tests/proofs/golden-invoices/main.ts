import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { InvoiceInputs } from '../../../billing-api/domain/invoice/invoice.js';
import { currentRules } from '../../../billing-api/domain/invoice/pricing/rules.js';
import { encodeSnapshot } from '../../../billing-api/domain/invoice/snapshot/invoice-snapshot.js';
import { projectRoot } from '../../../runtime/project.js';
import { invoiceChain } from '../pricing-oracle/agreement/invoice-chain.js';
import { productInputs } from '../pricing-oracle/agreement/product-inputs.js';
import { randomCase } from '../pricing-oracle/random/random-subscription.js';
import { bytesOf, type GoldenInvoice } from './golden-invoice.js';

/**
 * `npm run golden -- --seed 1 --cases 300`: keeps the inputs of random invoices of the present
 * rules as files, each because it shows something that those before it do not. Run once for every
 * version of the rules.
 */
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, cases: { type: 'string', default: '300' } },
});
/** Larger ones say nothing more. */
const BYTES_MAX = 40_000;
const { version: rulesVersion } = currentRules();
const FOLDER = join(projectRoot, `load-tests/proofs/golden-invoices/rules-${rulesVersion}`);

/** What an invoice shows: every word that its inputs take from a fixed set. */
function wordsOf({ subscription, lineItems, ...inputs }: InvoiceInputs): readonly string[] {
  return [
    inputs.referencePoint,
    subscription.currency,
    subscription.timezone,
    subscription.billingPeriod,
    subscription.billingCycle,
    subscription.prorationBehavior,
    ...subscription.periods.map(
      ({ kind, pauses }) => `${kind} ${pauses.length > 0 ? 'paused' : ''}`,
    ),
    ...(subscription.commitment === null ? [] : ['commitment of the subscription']),
    ...lineItems.flatMap(({ price, meter, commitment, predecessorId }) => [
      `${price.billingModel} ${price.tierMode} ${price.invoiceCadence} ${price.billingCadence}`,
      `${meter?.aggregationType ?? 'none'} by ${meter?.bucketSize ?? 'none'}`,
      ...(price.priceUnitFigures === null ? [] : ['price unit']),
      ...(predecessorId === null ? [] : ['successor']),
      ...(commitment === null ? [] : [`windowed ${String(commitment.isWindowed)}`]),
      ...(commitment?.timeBuckets ?? []).map(() => 'time bucket'),
    ]),
    ...inputs.entitlements.map(({ usageResetPeriod }) => `reset ${String(usageResetPeriod)}`),
    ...inputs.coupons.map(({ coupon }) => `coupon ${coupon.type}`),
    ...inputs.taxes.map(() => 'tax'),
    ...inputs.wallets.map(() => 'wallet'),
  ];
}

const timeZoneData = process.versions['tz'] ?? 'unknown';
const shown = new Set<string>();
let kept = 0;
mkdirSync(FOLDER, { recursive: true });
for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.cases); seed += 1) {
  for (const { subscription, question } of invoiceChain(seed, randomCase(seed))) {
    const inputs = productInputs(subscription, question);
    const about = [...new Set(wordsOf(inputs))].filter((word) => !shown.has(word));
    const golden: GoldenInvoice = {
      about,
      snapshot: encodeSnapshot({ rulesVersion, inputs, timeZoneData, watermark: null }),
      result: bytesOf({ inputs, rulesVersion }),
    };
    const text = `${JSON.stringify(golden, null, 1)}\n`;
    if (about.length < 2 || text.length > BYTES_MAX) continue;
    for (const word of about) shown.add(word);
    kept += 1;
    writeFileSync(
      join(FOLDER, `seed-${seed}-${question.reference}-${question.rowIndex}.json`),
      text,
    );
  }
}
console.log(`${kept} invoices kept, ${shown.size} things shown`);
