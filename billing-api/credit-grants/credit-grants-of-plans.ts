import {
  creditGrantToDto,
  type CreditGrantDto,
} from '../declarations/credit-grants/credit-grant.resource.js';
import { findCreditGrantsOf } from './credit-grants-store.js';
import type { Expansion } from '../records/expand-record.js';
import { byOwner } from '../owners/by-owner.js';

export interface CreditGrantsOfPlanDto {
  /** Published credit grants, oldest first. */
  credit_grants?: CreditGrantDto[] | null;
}

/** Expands `credit_grants` of plans. */
export const expandCreditGrants: Expansion<{ readonly id: string }, CreditGrantDto[]> = async (
  { tx },
  plans,
) => {
  const ids = plans.map(({ id }) => id);
  const rows = await findCreditGrantsOf(tx, 'plan_id', ids);
  const grants = byOwner(rows.map((row) => ({ entity_id: row.plan_id ?? '', row })));
  return ({ id }) => (grants.get(id) ?? []).map(({ row }) => creditGrantToDto(row));
};
