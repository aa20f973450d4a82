import { Decimal, plain } from '../../contract/decimal.js';
import type { DecimalText } from '../../contract/wire-types.js';
import { givenOf, MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';
import type {
  ChangeTaxRateBody,
  CreateTaxRateBody,
  NewTaxRate,
  TaxRateRow,
} from '../declarations/taxes/tax-rate.resource.js';

/** The columns that say how much a rate takes. */
type ValueColumns = Pick<NewTaxRate, 'tax_rate_type' | 'percentage_value' | 'fixed_value'>;

type GivenValues = Pick<CreateTaxRateBody, 'percentage_value' | 'fixed_value'>;

function readValue(reader: MemberReader, member: string, text: DecimalText): string {
  const value = reader.decimal(member, text);
  if (value?.isNegative() === true) reader.note(member, 'must be 0 or more');
  return value === null ? '0' : plain(value);
}

/** Exactly one value, percentage or fixed (docs/domain.md 3.2). */
function readValues(reader: MemberReader, body: GivenValues): ValueColumns {
  const { percentage_value: percentage, fixed_value: fixed } = body;
  if (percentage !== undefined && fixed !== undefined) {
    reader.note('fixed_value', 'cannot be combined with percentage_value; give one of them');
  }
  if (fixed === undefined) {
    if (percentage === undefined) {
      reader.note('percentage_value', 'give percentage_value or fixed_value');
    }
    const value = readValue(reader, 'percentage_value', percentage ?? '0');
    return { tax_rate_type: 'percentage', percentage_value: value, fixed_value: null };
  }
  const value = readValue(reader, 'fixed_value', fixed);
  return { tax_rate_type: 'fixed', percentage_value: null, fixed_value: value };
}

/** The tax rate that a request describes, or what is wrong with it. */
export function newTaxRate(body: CreateTaxRateBody): NewTaxRate | Refusal {
  const reader = new MemberReader();
  const values = readValues(reader, body);
  if (body.tax_rate_type !== undefined && body.tax_rate_type !== values.tax_rate_type) {
    reader.note('tax_rate_type', `must be ${values.tax_rate_type}, as the value that is given`);
  }
  const rate = {
    name: reader.name('name', body.name),
    code: reader.name('code', body.code),
    description: body.description ?? null,
    ...values,
    scope: body.scope ?? 'INTERNAL',
    tax_rate_status: 'ACTIVE' as const,
    metadata: { ...reader.metadata(body.metadata) },
  };
  return reader.refusal() ?? rate;
}

/** What a change of a tax rate writes, or what is wrong with it. */
export function changedTaxRate(body: ChangeTaxRateBody) {
  const reader = new MemberReader();
  const hasValue = body.percentage_value !== undefined || body.fixed_value !== undefined;
  const patch = {
    ...givenOf({
      description: body.description,
      tax_rate_status: body.tax_rate_status,
      name: reader.changedName('name', body.name),
      metadata: reader.changedMetadata(body.metadata),
    }),
    ...(hasValue ? readValues(reader, body) : {}),
  };
  return reader.refusal() ?? patch;
}

function isSame(left: string | null, right: string | null): boolean {
  if (left === null || right === null) return left === right;
  return new Decimal(left).equals(right);
}

/** Whether a change makes the rate take another amount than before. */
export function changesValue(row: TaxRateRow, patch: Partial<ValueColumns>): boolean {
  const after = { ...row, ...patch };
  return (
    !isSame(row.percentage_value, after.percentage_value) ||
    !isSame(row.fixed_value, after.fixed_value)
  );
}
