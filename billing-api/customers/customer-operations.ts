import type { Occasion } from '../records/occasion.js';
import { changeRecord, type ChangeTarget } from '../records/change-record.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { readOperation } from '../records/operation.js';
import { writeUnit, type Unit, type WriteDependencies } from '../records/unit.js';
import { changeIntegrations } from './change-integrations.js';
import { answeredCustomer, answerWritten, type AnsweredCustomer } from './customer-answer.js';
import { changedCustomer, newCustomer } from './customer-rules.js';
import { changeCustomerTaxes, createTaxedCustomer } from './customer-taxes.js';
import {
  CUSTOMERS,
  type ChangeCustomerBody,
  type CreateCustomerBody,
} from '../declarations/customers/customer.resource.js';
import { findAnsweredCustomer, findNamedCustomer, type CustomerName } from './named-customer.js';

/** POST /customers. */
export async function createCustomer(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateCustomerBody,
): Promise<AnsweredCustomer | Refusal> {
  const wanted = newCustomer(body);
  if (isRefusal(wanted)) return wanted;
  return writeUnit(dependencies, occasion, async (unit) => {
    const customer = await createTaxedCustomer(unit, wanted.customer, wanted.taxes);
    await changeIntegrations(unit, customer.id, wanted.integrations);
    return answerWritten(unit, customer);
  });
}

/** GET /customers/{id}, whatever the status, and GET /customers/external/{external_id}. */
export const readCustomer = readOperation(
  async (unit, name: CustomerName): Promise<AnsweredCustomer> =>
    answeredCustomer(await findAnsweredCustomer(unit, name)),
);

/** Which customer a change means, and which versions of it the caller has seen (If-Match). */
export type CustomerTarget = Pick<ChangeTarget, 'isExpected'> & CustomerName;

async function idOfTarget(unit: Unit, target: CustomerTarget): Promise<string> {
  if ('id' in target) return target.id;
  const customer = await findNamedCustomer(unit, target);
  return customer.id;
}

/** PUT /customers/{id} and PUT /customers?external_customer_id=. */
export async function changeCustomer(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: CustomerTarget; readonly body: ChangeCustomerBody },
): Promise<AnsweredCustomer | Refusal> {
  const changed = changedCustomer(body);
  if (isRefusal(changed)) return changed;
  const { members, integrations, taxes } = changed;
  return writeUnit(dependencies, occasion, async (unit) => {
    const id = await idOfTarget(unit, target);
    const { isExpected } = target;
    const change = async () => {
      if (integrations !== null) await changeIntegrations(unit, id, integrations);
      await changeCustomerTaxes(unit, id, taxes);
      return members;
    };
    const customer = await changeRecord(unit, CUSTOMERS, { target: { id, isExpected }, change });
    return answerWritten(unit, customer);
  });
}
