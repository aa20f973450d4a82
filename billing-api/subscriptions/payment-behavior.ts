import { mustGet } from '../../runtime/failure.js';
import type { MemberReader } from '../records/member-rules.js';

/** With which collection_method each payment_behavior goes (docs/domain.md 17.3). */
const METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  ['default_active', ['charge_automatically', 'send_invoice']],
  ['allow_incomplete', ['charge_automatically']],
  ['error_if_incomplete', ['charge_automatically']],
  ['default_incomplete', ['send_invoice']],
]);

/** Notes a payment_behavior that does not go with the collection_method. */
export function checkBehavior(
  reader: MemberReader,
  {
    payment_behavior: behavior,
    collection_method: method,
  }: { readonly payment_behavior: string; readonly collection_method: string },
): void {
  const methods = mustGet(METHODS, behavior, 'a payment_behavior');
  if (methods.includes(method)) return;
  const problem = `${behavior} goes with collection_method ${methods.join(' or ')}, not ${method}`;
  reader.note('payment_behavior', problem);
}
