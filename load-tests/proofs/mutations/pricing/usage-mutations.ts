import { mutation, type PricingMutation } from './pricing-mutation.js';

/** Entitlements, commitments, windows. */
export const USAGE_MUTATIONS: readonly PricingMutation[] = [
  mutation(['one unlimited source does not win', '10.1'], 'entitlement/effective-entitlement.ts', [
    'if (usageLimit === null) return null;',
    'if (usageLimit === null) continue;',
  ]),
  mutation(
    ['a replaced entitlement still adds up', '10.1'],
    'entitlement/effective-entitlement.ts',
    [
      '({ entitlementId }) => !replaced.has(entitlementId)',
      '({ entitlementId }) => entitlementId !== null',
    ],
  ),
  mutation(['an allowance forgets earlier usage', '10.2'], 'entitlement/allowance-pool.ts', [
    '.minus(maxOf(ZERO, before.minus(limit)))',
    '',
  ]),
  mutation(
    ['the allowance of every reset window sees the whole period', '10.2'],
    'entitlement/apply-allowance.ts',
    ['usageIn(line, reset.until).minus(before)', 'usageIn(line, line.window).minus(before)'],
  ),
  mutation(['each line has the whole allowance', '10.2'], 'entitlement/apply-allowance.ts', [
    'pools.set(window.startMs, poolAfter(pool, draw, usage));',
    '',
  ]),
  mutation(
    ['lines of the same events take for each of them twice', '10.2'],
    'entitlement/allowance-pool.ts',
    ['filter(([name]) => name !== stream)', 'filter(([name]) => name.length + stream.length >= 0)'],
  ),
  mutation(
    ['a line that ends earlier forgets what one of the same events used', '10.2'],
    'entitlement/allowance-pool.ts',
    ['if (counted !== undefined && counted.untilMs > draw.line.endMs) return pool;', ''],
  ),
  mutation(
    ['buckets use an allowance up as they were read', '10.2'],
    'entitlement/bucket-order.ts',
    [
      'const isInOrder = isAscending(buckets, (left, right) => left.startMs < right.startMs);',
      'const isInOrder = true;',
    ],
  ),
  mutation(['a bucket is of the allowance it begins under', '10.2'], 'entitlement/cut-buckets.ts', [
    'if (hasWholeBuckets(meter.aggregationType)) return [];',
    'if (meter.bucketSize !== null) return [];',
  ]),
  mutation(['the parts of a cut bucket are priced apart', '10.2'], 'entitlement/cut-buckets.ts', [
    'if (cuts.length === 0) return parts;',
    'if (cuts.length < 1_000_000) return parts;',
  ]),
  mutation(['days of an allowance begin at midnight UTC', '10.2'], 'entitlement/reset-windows.ts', [
    "{ size: 'DAY', timezone, anchorMs: null }",
    "{ size: 'DAY', timezone: timezone && 'UTC', anchorMs: null }",
  ]),
  mutation(
    ['usage before the subscription uses an allowance up', '10.2'],
    'entitlement/line-allowance.ts',
    ['Math.max(window.startMs, billedFromMs(ledger))', '0 * billedFromMs(ledger) + window.startMs'],
  ),
  mutation(['forget the true-up', '11.3'], 'commitment/apply-commitment.ts', [
    'if (!isTrueUpDue) return',
    'if (!isTrueUpDue || isTrueUpDue) return',
  ]),
  mutation(['the factor multiplies the whole charge', '11.3'], 'commitment/apply-commitment.ts', [
    'overageBase.times(overageFactor)',
    'usage.times(overageFactor)',
  ]),
  mutation(['true up in every period', '11.2'], 'invoice/charge/commit-line.ts', [
    'isTrueUpEnabled && isLast',
    'isTrueUpEnabled',
  ]),
  mutation(['prior use of other windows counts', '11.2'], 'invoice/charge/commitment-period.ts', [
    'prior.period.startMs >= window.startMs &&',
    '',
  ]),
  mutation(['forget prior use', '11.2'], 'invoice/charge/commitment-period.ts', [
    'const used = earlier.map(',
    'const used = earlier.slice(0, 0).map(',
  ]),
  mutation(
    ['windows of a duration are counted from the anchor', '11.2'],
    'commitment/commitment-window.ts',
    [
      'windowsFromMs ?? billedFromMs(ledger),',
      'windowsFromMs ?? currentPeriod(ledger, billedFromMs(ledger)).anchor.atMs,',
    ],
  ),
  mutation(
    ['a line has the window in which it begins, not its billing period', '11.2'],
    'commitment/commitment-window.ts',
    ['return gridPeriodAt(grid, startMs);', 'return gridPeriodAt(grid, instant);'],
  ),
  mutation(['a factor of 1 commits a subscription', '11.6'], 'invoice/charge/charge-lines.ts', [
    'overageFactor.greaterThan(ONE) || isMinimum',
    'overageFactor.greaterThanOrEqualTo(ONE) || isMinimum',
  ]),
  mutation(['units of a split line are floored', '11.1'], 'commitment/split-charges.ts', [
    'const QUANTITY_DIGITS = 12;',
    'const QUANTITY_DIGITS = 0;',
  ]),
  mutation(
    ['parts of a split line are rounded by themselves', '11.1'],
    'commitment/split-charges.ts',
    [
      'const withinAmounts = isExhausted',
      'const withinAmounts = isExhausted && within.length > 99',
    ],
  ),
  mutation(['the true-up follows unrounded lines', '11.1'], 'invoice/charge/charge-lines.ts', [
    'within.reduce((sum, { amount }) => sum.plus(amount), usedBefore)',
    // Rounded after the sum: an amount has no finer digits than its currency.
    'roundMoney(within.reduce((sum, { exact }) => sum.plus(exact), usedBefore.value), usedBefore.currency)',
  ]),
  mutation(['a cut bucket has the whole commitment', '11.4'], 'rating/window-charge.ts', [
    'return scale === null ? amount : amount.times(scale.coveredMs).dividedBy(scale.fullMs);',
    'return scale === null ? amount : amount;',
  ]),
  mutation(['a day of 23 hours is a cut one', '11.4'], 'rating/rate-committed-windows.ts', [
    'const fullMs = endMs - startMs;',
    'const fullMs = endMs - startMs > 80_000_000 ? 86_400_000 : endMs - startMs;',
  ]),
  mutation(['windows that begin now take part', '11.4'], 'rating/rate-committed-windows.ts', [
    'const isBegun = startMs < asOfMs;',
    'const isBegun = startMs <= asOfMs;',
  ]),
  mutation(['unused commitment of one window pays for another', '11.4'], 'rating/sum-windows.ts', [
    'const side = isBeyond ? of.beyond : of.within;',
    'const side = isBeyond ? of.within : of.within;',
  ]),
  mutation(['windows without usage are free', '11.5'], 'rating/rate-committed-windows.ts', [
    'return groups !== null || (isBegun && (committed?.isTrueUpEnabled ?? false));',
    'return groups !== null || (isBegun && committed === undefined);',
  ]),
  mutation(['forget the wrap past midnight', '11.5'], 'commitment/time-bucket.ts', [
    'return minute >= startMinute || minute < endMinute;',
    'return minute >= startMinute;',
  ]),
  mutation(['a time bucket holds its last minute', '11.5'], 'commitment/time-bucket.ts', [
    'return startMinute <= minute && minute < endMinute;',
    'return startMinute <= minute && minute <= endMinute;',
  ]),
  mutation(['times of day are in UTC', '11.5'], 'rating/rate-committed-windows.ts', [
    'const localMs = instant + stretch.offsetMs;',
    'const localMs = instant + 0 * stretch.offsetMs;',
  ]),
  mutation(
    ['a window belongs to the time at which it begins', '11.5'],
    'commitment/time-bucket.ts',
    ['return minute - (minute % slotMinutes);', 'return minute - 0 * slotMinutes;'],
  ),
  mutation(
    ['a quantity commits at the price of the line', '11.5'],
    'rating/rate-committed-windows.ts',
    [
      'windowRule(bucket.price, bucket.terms, bucket.id)',
      'windowRule({ ...bucket.price, ...price }, bucket.terms, bucket.id)',
    ],
  ),
];
