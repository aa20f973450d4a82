import type { Sample } from './sample-requests.js';

/** Coupons, taxes, and what they are attached to; settings of alerts. */
export const ADJUSTMENTS: Readonly<Record<string, Sample>> = {
  CreateCoupon: (_ids, suffix) => ({
    body: {
      name: 'Launch week',
      type: 'fixed',
      amount_off: '25',
      currency: 'usd',
      cadence: 'once',
      coupon_code: `LAUNCH${suffix}`,
      max_redemptions: 100,
      redeem_before: '2026-03-01T00:00:00Z',
      rules: { segment: 'new' },
    },
  }),
  SearchCoupons: (ids) => ({ body: { coupon_ids: [ids.coupon] } }),
  ReadCoupon: (ids) => ({ path: { id: ids.coupon } }),
  ReadCouponByCode: (ids) => ({ path: { code: ids.coupon_code } }),
  ChangeCoupon: (ids) => ({ path: { id: ids.coupon }, body: { name: 'Spring offer 2026' } }),
  ArchiveCoupon: (ids) => ({ path: { id: ids.spare_coupon } }),
  ListCouponAssociations: (ids) => ({ query: { coupon_id: ids.coupon, limit: '1' } }),
  ReadCouponAssociation: (ids) => ({ path: { id: ids.coupon_association } }),
  CreateTaxRate: (_ids, suffix) => ({
    body: { name: 'Sales tax', code: `CA-SF${suffix}`, percentage_value: '8.625' },
  }),
  ListTaxRates: () => ({ query: { sort: 'code', order: 'asc', limit: '1' } }),
  ReadTaxRate: (ids) => ({ path: { id: ids.tax_rate } }),
  ChangeTaxRate: (ids) => ({ path: { id: ids.tax_rate }, body: { name: 'VAT Germany' } }),
  ArchiveTaxRate: (ids) => ({ path: { id: ids.spare_tax_rate } }),
  CreateTaxAssociation: (ids) => ({
    body: {
      tax_rate_code: ids.tax_rate_code,
      entity_type: 'customer',
      entity_id: ids.customer,
      priority: 10,
    },
  }),
  ListTaxAssociations: () => ({ query: { sort: 'priority', order: 'asc', limit: '1' } }),
  ReadTaxAssociation: (ids) => ({ path: { id: ids.tax_association } }),
  ChangeTaxAssociation: (ids) => ({ path: { id: ids.tax_association }, body: { priority: 50 } }),
  ArchiveTaxAssociation: (ids) => ({ path: { id: ids.spare_tax_association } }),
  CreateAlertSetting: (ids) => ({
    body: {
      entity_type: 'subscription_line_item',
      entity_id: ids.line_item,
      alert_settings: {
        critical: { condition: 'above', threshold: 1000 },
        warning: { condition: 'above', threshold: 800 },
      },
    },
  }),
  SearchAlerts: () => ({ body: { entity_type: 'wallet' } }),
  SearchAlertSettings: () => ({
    body: { filters: [{ field: 'entity_type', value: { string: 'subscription' } }] },
  }),
  ReadAlertSetting: (ids) => ({ path: { id: ids.alert_setting } }),
  ChangeAlertSetting: (ids) => ({
    path: { id: ids.alert_setting },
    body: { alert_settings: { critical: { condition: 'above', threshold: 1200 } } },
  }),
  ArchiveAlertSetting: (ids) => ({ path: { id: ids.spare_alert_setting } }),
};
