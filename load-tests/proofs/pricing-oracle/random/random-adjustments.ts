import type { SeededRandom } from '../../../harness/seeded-random.js';
import { exact, isPositive } from '../exact.js';
import { moneyText, roundMoney } from '../money.js';
import type { CouponAssociation, TaxRate, Wallet } from '../subscription.js';
import type { Outline } from './random-items.js';
import { randomAmount, randomPositive } from './random-numbers.js';
import { randomInstant } from './random-times.js';

/** Money of at most the minor digits. */
export function roundedText(currency: string, text: string): string {
  return moneyText(currency, roundMoney(currency, exact(text)));
}

function randomDiscount(random: SeededRandom, currency: string): CouponAssociation['discount'] {
  if (random.chance(0.5)) {
    const percentages = ['10', '33.333333333333333333', '60', '60', '100', '0.000001', '12.5'];
    return { type: 'percentage', percentageOff: random.pick(percentages) };
  }
  const chosen = random.chance(0.3) ? random.pick(['1', '10', '100']) : randomPositive(random);
  const amount = roundedText(currency, chosen);
  return { type: 'fixed', amountOff: isPositive(exact(amount)) ? amount : '1' };
}

export function randomCoupons(
  random: SeededRandom,
  outline: Outline,
): readonly CouponAssociation[] {
  const { items, currency, start } = outline.subscription;
  const instant = (): number => randomInstant(random, outline);
  return Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, (_, index) => {
    const item = random.chance(0.5) && items.length > 0 ? random.pick(items) : null;
    const from = random.chance(0.7) ? start : instant();
    const until = instant();
    return {
      id: `coupon-${random.below(100)}-${index}`,
      itemId: item?.id ?? null,
      start: from,
      end: random.chance(0.3) && until > from ? until : null,
      discount: randomDiscount(random, currency),
      applicationsMax: random.pick([null, null, 1, 2]),
    };
  });
}

type RandomRate =
  | { readonly type: 'percentage'; readonly percentage: string }
  | { readonly type: 'fixed'; readonly amount: string };

function randomRate(random: SeededRandom): RandomRate {
  return random.chance(0.3)
    ? { type: 'fixed', amount: random.pick(['0', '1.005', '3', '0.0049']) }
    : { type: 'percentage', percentage: random.pick(['20', '7.7', '0', '19.123456789']) };
}

/** Some of other levels, of a rate that is there already, or of one that is no longer active. */
export function randomTaxes(random: SeededRandom): readonly TaxRate[] {
  const taxes: TaxRate[] = [];
  const count = random.pick([0, 0, 1, 2, 3]);
  for (let index = 0; index < count; index += 1) {
    const known = taxes.at(-1);
    const isRepeated = known !== undefined && random.chance(0.25);
    const rate = { rateId: `rate-${index}`, isActive: !random.chance(0.1), ...randomRate(random) };
    taxes.push({
      ...(isRepeated ? known : rate),
      id: `tax-${index}`,
      level: random.pick(['subscription', 'subscription', 'customer', 'tenant', 'invoice']),
      isAutoApplied: random.chance(0.7),
    });
  }
  return taxes;
}

export function randomWallets(random: SeededRandom): readonly Wallet[] {
  return Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, (_, index) => ({
    id: `wallet-${index}`,
    createdAt: index,
    creditBalance: `${random.chance(0.05) ? '-' : ''}${randomAmount(random)}`,
    conversionRate: random.pick(['1', '1', '0.01', '0.333333333333333333', '2.5']),
    allowed: random.pick(['ALL', 'USAGE', 'USAGE', 'FIXED']),
  }));
}
