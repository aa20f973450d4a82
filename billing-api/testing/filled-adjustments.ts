/** Makes a record through the API. */
type Make = (path: string, body: object) => Promise<{ readonly id: string }>;

/** What a request can name of coupons, taxes and alerts. */
export type AdjustmentIdKind =
  | 'coupon'
  | 'coupon_code'
  | 'spare_coupon'
  | 'coupon_association'
  | 'tax_rate'
  | 'tax_rate_code'
  | 'spare_tax_rate'
  | 'tax_association'
  | 'spare_tax_association'
  | 'alert_setting'
  | 'spare_alert_setting';

type AlertKind = 'alert_setting' | 'spare_alert_setting';
type Ids = Readonly<Record<Exclude<AdjustmentIdKind, 'coupon_association' | AlertKind>, string>>;

/**
 * Coupons and tax rates, one of each to archive, and the rate on a customer: once to read, and once
 * with another priority to archive.
 */
export async function makeAdjustments(
  make: Make,
  suffix: string,
  customerId: string,
): Promise<Ids> {
  const coupon_code = `SPRING${suffix}`;
  const percentage = { type: 'percentage', percentage_off: '10', cadence: 'forever' };
  const coupon = await make('/v1/coupons', { name: 'Spring offer', coupon_code, ...percentage });
  const spareCoupon = await make('/v1/coupons', { name: 'Winter offer', ...percentage });
  const tax_rate_code = `DE-19${suffix}`;
  const vat = { name: 'VAT', code: tax_rate_code, percentage_value: '19' };
  const rate = await make('/v1/taxes/rates', vat);
  const levy = { name: 'Levy', code: `LEVY${suffix}`, fixed_value: '1.50' };
  const spareRate = await make('/v1/taxes/rates', levy);
  const taxed = { tax_rate_code, entity_type: 'customer', entity_id: customerId };
  const association = await make('/v1/taxes/associations', taxed);
  const spareAssociation = await make('/v1/taxes/associations', { ...taxed, priority: 200 });
  return {
    coupon: coupon.id,
    coupon_code,
    spare_coupon: spareCoupon.id,
    tax_rate: rate.id,
    tax_rate_code,
    spare_tax_rate: spareRate.id,
    tax_association: association.id,
    spare_tax_association: spareAssociation.id,
  };
}

/** The members that put both on a subscription. */
export function adjustmentsOf({
  coupon_code,
  tax_rate_code,
}: Pick<Ids, 'coupon_code' | 'tax_rate_code'>): object {
  return { coupons: [coupon_code], tax_rate_overrides: [{ tax_rate_code }] };
}

/** Settings of alerts: one to read, on a subscription, and one to archive. */
export async function makeAlertSettings(
  make: Make,
  subscriptionId: string,
  groupId: string,
): Promise<Readonly<Record<AlertKind, string>>> {
  const alert_settings = { critical: { condition: 'above', threshold: 5000 } };
  const path = '/v1/alerts/setting';
  const setting = { entity_type: 'subscription', entity_id: subscriptionId, alert_settings };
  const spare = { entity_type: 'group', entity_id: groupId, alert_settings };
  return {
    alert_setting: (await make(path, setting)).id,
    spare_alert_setting: (await make(path, spare)).id,
  };
}
