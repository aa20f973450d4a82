import { decimalOf } from '../../contract/number/decimal.js';
import type { TaxRateColumns, TaxRateRow } from '../declarations/taxes/tax-rate.resource.js';
import type { MemberReader } from '../records/member-rules.js';
import type { Patch } from '../records/resource.js';
import type { CreateBodyOf, ReadValues } from '../records/standard/members.js';

type Values = Pick<TaxRateRow, 'percentage_value' | 'fixed_value'>;
type RatePatch = Patch<TaxRateColumns>;

/** Which of the two values is given (docs/domain.md 3.2); notes when it is not exactly one. */
function typeOfValue(
  reader: MemberReader,
  { percentage_value: percentage, fixed_value: fixed }: CreateBodyOf<TaxRateColumns> | RatePatch,
): TaxRateRow['tax_rate_type'] {
  if (percentage !== undefined && fixed !== undefined) {
    reader.note('fixed_value', 'cannot be combined with percentage_value; give one of them');
  }
  if (percentage === undefined && fixed === undefined) {
    reader.note('percentage_value', 'give percentage_value or fixed_value');
  }
  return fixed === undefined ? 'percentage' : 'fixed';
}

/** Notes what breaks a rule between the members of a new tax rate. */
export function checkTaxRate(
  reader: MemberReader,
  { tax_rate_type: type }: ReadValues<TaxRateColumns>,
  body: CreateBodyOf<TaxRateColumns>,
): void {
  const given = typeOfValue(reader, body);
  if (type === null || type === given) return;
  reader.note('tax_rate_type', `must be ${given}, as the value that is given`);
}

/** The columns of a new tax rate that follow from others. */
export function fillTaxRate({ fixed_value: fixed }: Values) {
  const type = fixed === null ? ('percentage' as const) : ('fixed' as const);
  return { tax_rate_type: type, tax_rate_status: 'ACTIVE' as const };
}

/** A change that gives a value puts it in place of whichever value the rate has. */
export function reviseTaxRate(reader: MemberReader, patch: RatePatch): RatePatch {
  const { percentage_value: percentage, fixed_value: fixed } = patch;
  if (percentage === undefined && fixed === undefined) return patch;
  const type = typeOfValue(reader, patch);
  const values = { percentage_value: percentage ?? null, fixed_value: fixed ?? null };
  return { ...patch, ...values, tax_rate_type: type };
}

function isSame(left: string | null, right: string | null): boolean {
  if (left === null || right === null) return left === right;
  return decimalOf(left).equals(decimalOf(right));
}

/** Whether a change makes the rate take another amount than before. */
export function changesValue(row: TaxRateRow, patch: RatePatch): boolean {
  const after = { ...row, ...patch };
  return (
    !isSame(row.percentage_value, after.percentage_value) ||
    !isSame(row.fixed_value, after.fixed_value)
  );
}
