import { mustGet } from '../../../runtime/failure.js';
import { addonToDto } from '../../declarations/catalog/addon.resource.js';
import { featureToDto } from '../../declarations/catalog/feature.resource.js';
import { meterToDto } from '../../declarations/catalog/meter.resource.js';
import { planToDto } from '../../declarations/catalog/plan.resource.js';
import { priceToDto } from '../../declarations/catalog/price.resource.js';
import { lineItemToDto } from '../../declarations/subscriptions/line-item.resource.js';
import type { AnalyticsItemDto } from './analytics-dto.js';
import type { Analytics, AnalyticsItem } from './analytics-items.js';

type Expanded = Pick<
  AnalyticsItemDto,
  'price' | 'meter' | 'feature' | 'subscription_line_item' | 'plan' | 'addon'
>;

/** The records of an item that `expand` names. */
export function expandedMembers({ line }: AnalyticsItem, analytics: Analytics): Expanded {
  const { related, metering } = analytics;
  const price = mustGet(related.prices, line.row.price_id, 'the price of a line');
  const meterId = line.row.meter_id;
  const meter = meterId === null ? null : mustGet(metering.meters, meterId, 'the meter of a line');
  const plan = related.plans.get(line.subscription.plan_id);
  const addon = related.addons.get(line.row.entity_id);
  const all: Expanded = {
    price: priceToDto(price, related.symbols),
    meter: meter === null ? null : meterToDto(meter),
    feature: line.feature === null ? null : featureToDto(line.feature),
    subscription_line_item: lineItemToDto(line.row, price, related.symbols),
    plan: plan === undefined ? null : planToDto(plan),
    addon: addon === undefined ? null : addonToDto(addon),
  };
  const names: ReadonlySet<string> = analytics.expand;
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}
