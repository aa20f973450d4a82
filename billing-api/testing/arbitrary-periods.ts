import fc from 'fast-check';
import type { BillingPeriod } from '../domain/calendar/billing-grid.js';
import { resolveBillingAnchor } from '../domain/calendar/billing-boundaries.js';
import { day } from './invoice-samples.js';

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia'];

/** An instant of some decades. */
export const anyInstant = fc.integer({ min: day('1995-01-01'), max: day('2060-01-01') });

/** How a subscription is billed, and its anchor. */
export const anyBilling = fc
  .record({
    billingPeriod: fc.constantFrom<BillingPeriod>(
      'DAILY',
      'WEEKLY',
      'MONTHLY',
      'QUARTERLY',
      'HALF_YEARLY',
      'ANNUAL',
    ),
    billingCycle: fc.constantFrom('anniversary' as const, 'calendar' as const),
    billingPeriodCount: fc.integer({ min: 1, max: 5 }),
    startMs: anyInstant,
    timezone: fc.constantFrom(...ZONES),
  })
  .map((members) => ({
    ...members,
    billingAnchorMs: resolveBillingAnchor({ ...members, billingAnchorMs: null }),
  }));
