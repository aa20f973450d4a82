import { expect, test } from 'vitest';
import { drawSeed } from '../../../harness/draw-seed.js';
import { firstBilledStart, runningRow } from '../period-ledger.js';
import { randomCase } from '../random/random-subscription.js';
import { endOf, type Subscription, type UsageItem } from '../subscription.js';
import type { Range } from '../../usage-oracle/windows.js';
import { invoiceChain, type ChainLink } from './invoice-chain.js';

const CASES = 60;
const firstSeed = drawSeed();
/** The invoices of each case, which both laws are asked of. */
const chains = Array.from({ length: CASES }, (_, index) => {
  const seed = firstSeed + index;
  const { subscription } = randomCase(seed);
  return { seed, subscription, links: invoiceChain(seed, { subscription }) };
});

/** The instant at which an invoice is made, as far as the question tells it. */
function isOfThePast({ subscription, question, expected }: ChainLink): boolean {
  const at = question.now ?? Math.max(Date.parse(expected.periodEnd), ...latest(subscription));
  return subscription.history.every((operation) => operation.at <= at);
}

function latest({ history }: Subscription): readonly number[] {
  return history.filter(({ type }) => type === 'cancel').map(({ at }) => at);
}

test(`an invoice knows no operation of its future, from seed ${firstSeed} on`, () => {
  const links = chains.flatMap((chain) => chain.links);
  expect(links.filter((link) => !isOfThePast(link))).toEqual([]);
  expect(links.some(({ subscription }) => subscription.history.length > 2)).toBe(true);
});

/** What lines of an item on stored invoices cover, in time order; parts of a split one once. */
function billedRanges(links: readonly ChainLink[], itemId: string): readonly Range[] {
  return links
    .filter(({ question }) => question.reference !== 'preview')
    .flatMap(({ expected }) => expected.lines)
    .filter((line) => line.itemId === itemId)
    .map(({ periodStart, periodEnd }) => ({
      start: Date.parse(periodStart),
      end: Date.parse(periodEnd),
    }))
    .toSorted((left, right) => left.start - right.start || left.end - right.end)
    .filter(({ start, end }, index, all) => {
      const before = all[index - 1];
      return start !== before?.start || end !== before.end;
    })
    .map(({ start, end }, index, all) => {
      // A line of a later part of a split period begins with the period again.
      const before = all[index - 1];
      return start === before?.start ? { start: before.end, end } : { start, end };
    });
}

function lifeOf(subscription: Subscription, item: UsageItem): Range {
  const until = Math.min(runningRow(subscription).end, endOf(subscription) ?? Infinity);
  return {
    start: Math.max(firstBilledStart(subscription), item.start),
    end: Math.min(item.end ?? Infinity, until),
  };
}

test(`usage is billed once for all of an item's life, from seed ${firstSeed} on`, () => {
  for (const { seed, subscription, links } of chains) {
    for (const item of subscription.items) {
      if (item.type !== 'USAGE' || item.length !== subscription.length) continue;
      const { start, end } = lifeOf(subscription, item);
      const lines = billedRanges(links, item.id);
      const starts = [start, ...lines.map((line) => line.end)];
      const ends = [...lines.map((line) => line.start), end];
      if (start < end) expect({ seed, starts }).toEqual({ seed, starts: ends });
      else expect({ seed, lines }).toEqual({ seed, lines: [] });
    }
  }
});
