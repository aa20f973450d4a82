import { test as base } from './billing-test.js';
import { makePricedPlan, type MeterOptions, type PricedPlan } from './priced-plan.js';

/** A plan with one usage price, whose meter a feature has. */
export type FeaturedPlan = PricedPlan & {
  readonly featureId: string;
  /** The members of POST /features that make a further feature of the meter. */
  readonly metered: { readonly type: 'metered'; readonly meter_id: string };
};

/** Sets the clock of the API, and makes the plan, the customer `acme` and the feature `Calls`. */
export type MakeFeaturedPlan = (
  now: string,
  options: { readonly meter: MeterOptions; readonly price: object },
) => Promise<FeaturedPlan>;

/** `test` with a plan that has a feature. */
export const test = base.extend<{ featuredPlan: MakeFeaturedPlan }>({
  featuredPlan: async ({ api, clock, database, clickhouse }, use) =>
    use(async (now, options) => {
      clock.set(now);
      const plan = await makePricedPlan(api, { database, clickhouse }, options);
      const metered = { type: 'metered', meter_id: plan.meterId } as const;
      const feature = await api.make('/v1/features', { ...metered, name: 'Calls' });
      return { ...plan, metered, featureId: feature.id };
    }),
});
