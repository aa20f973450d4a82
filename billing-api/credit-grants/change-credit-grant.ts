import type { Occasion } from '../records/occasion.js';
import {
  changeRecord,
  lockForChange,
  removeRecord,
  updateRecord,
  type ChangeTarget,
} from '../records/change-record.js';
import { givenOf, MemberReader } from '../records/member-rules.js';
import { accept, type Refusal } from '../records/refusal.js';
import { writeOperation } from '../records/operation.js';
import { writeUnit, type Unit, type WriteDependencies } from '../records/unit.js';
import { grantEndProblem } from './credit-grant-rules.js';
import {
  CREDIT_GRANTS,
  type ChangeCreditGrantBody,
  type CreditGrantRow,
  type EndCreditGrantBody,
} from '../declarations/credit-grants/credit-grant.resource.js';

/** PUT /creditgrants/{id}. */
export function changeCreditGrant(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeCreditGrantBody },
): Promise<CreditGrantRow | Refusal> {
  const { name, metadata, end_date: end } = body;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, CREDIT_GRANTS, {
      target,
      change: (row) => {
        const reader = new MemberReader();
        const endMs = reader.changedInstant('end_date', end);
        if (endMs !== undefined) reader.note('end_date', grantEndProblem(row, endMs, unit.now));
        const patch = givenOf({
          name: reader.changedName('name', name),
          metadata: reader.changedMetadata(metadata),
          end_date: endMs,
        });
        return reader.refusal() ?? patch;
      },
    }),
  );
}

/** Ends the grant of a subscription: it stays, and gives nothing from then on. */
async function endCreditGrant(
  unit: Unit,
  row: CreditGrantRow,
  { end_date: end }: EndCreditGrantBody,
): Promise<CreditGrantRow> {
  const reader = new MemberReader();
  const given = reader.instant('end_date', end);
  const endMs = given ?? Math.max(unit.now, row.start_date ?? 0);
  reader.note('end_date', grantEndProblem(row, endMs, unit.now));
  const problems = reader.refusal();
  return accept(problems ?? updateRecord(unit, CREDIT_GRANTS, { row, patch: { end_date: endMs } }));
}

/** DELETE /creditgrants/{id}: archives that of a plan or an addon, ends that of a subscription. */
export const removeCreditGrant = writeOperation(
  async (
    unit,
    { id, body }: { readonly id: string; readonly body: EndCreditGrantBody },
  ): Promise<CreditGrantRow> => {
    const row = await lockForChange(unit, CREDIT_GRANTS, { id });
    if (row.scope === 'SUBSCRIPTION') return endCreditGrant(unit, row, body);
    const reader = new MemberReader();
    if (body.end_date !== undefined) reader.note('end_date', grantEndProblem(row, null, unit.now));
    return accept(reader.refusal() ?? removeRecord(unit, CREDIT_GRANTS, { id, guards: [] }));
  },
);
