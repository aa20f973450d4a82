import { Extension, Get, Path, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import {
  listCustomerWallets,
  summarizeInvoices,
  type InvoiceSummariesDto,
  type RealTimeWalletsDto,
} from './customer-money.js';

/** What a customer owes and has; it stands below `/customers` in the interface. */
@Route('v1/customers')
@Tags('Customers')
export class CustomerMoneyController extends ApiController<UsageReadDependencies> {
  /**
   * The wallets that are not closed, with their real-time balances.
   * @summary List the wallets of a customer
   */
  @Get('{id}/wallets')
  @Extension('x-operation', { entity: 'wallet', access: 'read', rate: 'heavy' })
  public listCustomerWallets(@Path() id: string): Promise<RealTimeWalletsDto> {
    return this.run(listCustomerWallets, id);
  }

  /**
   * What was invoiced, what is unpaid and overdue, and what wallets and the ledger hold, by
   * currency.
   * @summary Sum up the invoices of a customer
   */
  @Get('{id}/invoices/summary')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  public summarizeInvoices(@Path() id: string): Promise<InvoiceSummariesDto> {
    return this.run(summarizeInvoices, id);
  }
}
