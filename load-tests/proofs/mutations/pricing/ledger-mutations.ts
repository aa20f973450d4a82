import { mutation, type PricingMutation } from './pricing-mutation.js';

/** What the operations of docs/domain.md 12.10 do to the rows, and what is asked of them. */
const ROWS: readonly PricingMutation[] = [
  mutation(['a pause does not move the end', '12.10'], 'periods/ledger-rows.ts', [
    'const moved = row.endMs + pause.endMs - pause.startMs;',
    'const moved = row.endMs + 0 * (pause.endMs - pause.startMs);',
  ]),
  mutation(['a pause moves the end of the subscription', '12.10'], 'periods/ledger-rows.ts', [
    'const endMs = Math.min(moved, ledger.endMs ?? Infinity);',
    'const endMs = moved;',
  ]),
  mutation(['grid periods are numbered anew after a pause', '12.10'], 'periods/ledger-rows.ts', [
    'number: last.gridNumber + 1',
    'number: 0 * last.gridNumber',
  ]),
  mutation(['the anchor of a calendar moves with a pause', '12.10'], 'periods/ledger-rows.ts', [
    "const isKept = billingCycle === 'calendar' || ledger.isGrouped === true;",
    'const isKept = ledger.isGrouped === true;',
  ]),
  mutation(['a pause does not move the anchor', '12.10'], 'periods/ledger-rows.ts', [
    'if (!wasPaused || isKept) return last.anchor;',
    'if (wasPaused || !wasPaused || isKept) return last.anchor;',
  ]),
  mutation(
    ['a pause before a threshold invoice does not move the anchor', '12.10'],
    'periods/ledger-rows.ts',
    ['return periods.slice(before + 1);', 'return periods.slice(before + 1).slice(-1);'],
  ),
  mutation(['the anchor after a trial is that of its start', '12.10'], 'periods/ledger-rows.ts', [
    "if (last.kind === 'trial') {",
    "if (last.kind === 'trial' && last.index < 0) {",
  ]),
  mutation(['a trial that is cancelled is billed', '12.10'], 'periods/ledger-rows.ts', [
    "const kind = row.kind === 'trial' ? 'trial' : 'last';",
    "const kind = 'last';",
  ]),
  mutation(['a threshold invoice begins a grid period', '12.10'], 'periods/ledger-rows.ts', [
    'startMs: atMs, pauses: [] }',
    'startMs: atMs, pauses: [], gridNumber: row.gridNumber + 1 }',
  ]),
  mutation(
    ['a threshold invoice repeats the pauses before it', '12.10'],
    'periods/ledger-rows.ts',
    ['startMs: atMs, pauses: [] }', 'startMs: atMs }'],
  ),
  mutation(['a cancelled subscription goes on', '12.10'], 'periods/ledger-rows.ts', [
    '[{ ...row, endMs: atMs, kind, pauses }]), endMs: atMs }',
    '[{ ...row, endMs: atMs, kind: row.kind, pauses }]) }',
  ]),
  mutation(['paused time is charged', '13.4'], 'periods/ledger-periods.ts', [
    'if (part !== null) ms -= part.endMs - part.startMs;',
    'if (part !== null) ms -= 0 * (part.endMs - part.startMs);',
  ]),
  mutation(['a trial is billed', '12.10'], 'periods/ledger-periods.ts', [
    'return trial?.endMs ?? periods[0].startMs;',
    'return Math.min(trial?.endMs ?? Infinity, periods[0].startMs);',
  ]),
  mutation(['a split period begins with its last part', '12.10'], 'periods/ledger-periods.ts', [
    "while (periods[first - 1]?.kind === 'threshold') first -= 1;",
    '',
  ]),
];

/** Periods of longer lines, and windows from an anchor. */
const OWN_PERIODS: readonly PricingMutation[] = [
  mutation(['own periods begin anew where the anchor moves', '13.3'], 'periods/own-periods.ts', [
    'const from = Math.floor(row.gridNumber / steps) * steps;',
    `const first0 = row.anchor.number;
  const from = first0 + Math.floor((row.gridNumber - first0) / steps) * steps;`,
  ]),
  mutation(['a full own period counts from the last anchor', '13.4'], 'periods/own-periods.ts', [
    'const { anchor } = first ?? row;',
    'const { anchor } = row;',
  ]),
  mutation(['pauses of an earlier part are charged', '13.4'], 'periods/own-periods.ts', [
    'recorded.flatMap(({ pauses }) => pauses)',
    'recorded.at(-1)?.pauses ?? []',
  ]),
  mutation(['an own period begins with the trial', '13.3'], 'periods/own-periods.ts', [
    "kind !== 'trial' && gridNumber >= from",
    'gridNumber >= from',
  ]),
  mutation(['windows go on where the anchor moves', '10.2'], 'periods/own-periods.ts', [
    'endMs: Math.min(period.endMs, inForce.endMs),',
    'endMs: period.endMs,',
  ]),
  mutation(['a longer line that starts late is not charged', '13.3'], 'invoice/line-periods.ts', [
    'const startMs = Math.max(own.startMs, lineItem.startMs);',
    'const { startMs } = own;',
  ]),
  mutation(
    ['a longer line is charged up to the end of the period in which it was added', '13.3'],
    'invoice/line-periods.ts',
    ['return steps === 1 ? cutOwn(own, arrear) : own;', 'return cutOwn(own, arrear);'],
  ),
  mutation(['MONTH buckets count from the first anchor', '7.8'], 'invoice/select-lines.ts', [
    'anchorMs: anchorMsAt(subscription, startMs)',
    'anchorMs: anchorMsAt(subscription, Math.min(startMs, subscription.periods[0].startMs))',
  ]),
];

/** What an invoice of a trial, of a part of a period or of the last one holds. */
const INVOICES: readonly PricingMutation[] = [
  mutation(['a trial is charged in advance', '13.3'], 'invoice/invoice-scope.ts', [
    'const advance = isTrial ? null : period;',
    'const advance = isTrial ? period : period;',
  ]),
  mutation(
    ['usage that a threshold invoice has charged is charged again', '30.1'],
    'invoice/charge/charge-lines.ts',
    ['amount: before === null ? whole : whole.minus(before),', 'amount: whole,'],
  ),
  mutation(
    ['FIXED lines after a threshold invoice are billed for the rest', '13.3'],
    'invoice/invoice-scope.ts',
    ['arrear: overlapOf(unsplitOf(terms, period), life),', 'arrear: usage,'],
  ),
  mutation(['a threshold invoice bills FIXED lines', '13.3'], 'invoice/invoice-scope.ts', [
    'return { terms, usage, arrear: null, advance: null, isLast: false };',
    'return { terms, usage, arrear: usage, advance: null, isLast: false };',
  ]),
];

/** Allowances and commitments over a history. */
const SHARED: readonly PricingMutation[] = [
  mutation(
    ['a threshold invoice renews the allowance', '10.2'],
    'entitlement/reset-windows.ts',
    ['import { billedFromMs, lifeOf }', 'import { billedFromMs, lifeOf, periodAt as rowAt }'],
    [
      '(instant) => ownPeriodAt(ledger, steps, instant)',
      '(instant) => steps === 1 ? rowAt(ledger, instant) : ownPeriodAt(ledger, steps, instant)',
    ],
  ),
  mutation(
    ['an allowance of several periods begins anew where the anchor moves', '10.2'],
    'entitlement/reset-windows.ts',
    ['if (steps !== null) return periodsIn', 'if (steps === 1) return periodsIn'],
  ),
  mutation(
    ['a MAX bucket counts in the window that cuts it', '10.2'],
    'entitlement/line-allowance.ts',
    [
      'if (bucketGrid === null || !hasWholeBuckets(meter.aggregationType)) return startMs;',
      'if (bucketGrid === null || hasWholeBuckets(meter.aggregationType)) return startMs;',
    ],
  ),
  mutation(
    ['a MAX bucket that a period cuts belongs to the window before', '10.2'],
    'entitlement/line-allowance.ts',
    [
      'Math.max(bucket.startMs, periodStartMs) < startMs',
      'Math.min(bucket.startMs, periodStartMs) < startMs',
    ],
  ),
  mutation(['an allowance is drawn in line order', '10.2'], 'entitlement/apply-allowance.ts', [
    'lines.toSorted((a, b) => a.window.startMs - b.window.startMs)',
    'lines.toSorted((a, b) => 0 * (a.window.startMs - b.window.startMs))',
  ]),
  mutation(
    ['a commitment counts from the start of the trial', '11.2'],
    'commitment/commitment-window.ts',
    [
      'windowsFromMs ?? billedFromMs(ledger),',
      'windowsFromMs ?? Math.min(billedFromMs(ledger), ledger.periods[0].startMs),',
    ],
  ),
  mutation(
    ['the end of a subscription trues nothing up', '11.2'],
    'commitment/commitment-window.ts',
    [
      'Math.min(window.endMs, lifeOf(ledger).endMs)',
      'Math.max(window.endMs, Math.min(0, lifeOf(ledger).endMs))',
    ],
  ),
  mutation(['a trial uses a commitment up', '11.2'], 'invoice/charge/charge-lines.ts', [
    'if (commitment === null || invoiceScopeOf(inputs).usage === null) return null;',
    'if (commitment === null || invoiceScopeOf(inputs).terms === null) return null;',
  ]),
  mutation(['a successor has a commitment of its own', '11.3'], 'invoice/charge/commit-line.ts', [
    'prior.usedBefore.plus(usedOf(used, ids, currency))',
    'prior.usedBefore.plus(usedOf(used, new Set(), currency))',
  ]),
  mutation(['invoices of a predecessor are forgotten', '11.3'], 'invoice/charge/commit-line.ts', [
    'lineItemIds: ids,',
    'lineItemIds: new Set([lineItem.id]),',
  ]),
  mutation(['every segment is trued up', '11.3'], 'invoice/charge/commit-line.ts', [
    '&& !hasSuccessorIn(window)',
    '',
  ]),
];

/** The period ledger, and what invoices, allowances and commitments make of it. */
export const LEDGER_MUTATIONS: readonly PricingMutation[] = [
  ...ROWS,
  ...OWN_PERIODS,
  ...INVOICES,
  ...SHARED,
];
