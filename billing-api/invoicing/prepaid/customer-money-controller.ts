import { Controller, Extension, Get, Path, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
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
export class CustomerMoneyController extends Controller {
  constructor(private readonly dependencies: UsageReadDependencies) {
    super();
  }

  /**
   * The wallets that are not closed, with their real-time balances.
   * @summary List the wallets of a customer
   */
  @Get('{id}/wallets')
  @Extension('x-operation', { entity: 'wallet', access: 'read', rate: 'heavy' })
  public async listCustomerWallets(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<RealTimeWalletsDto> {
    return accepted(await listCustomerWallets(this.dependencies, occasionOf(request), id));
  }

  /**
   * What was invoiced, what is unpaid and overdue, and what wallets and the ledger hold, by
   * currency.
   * @summary Sum up the invoices of a customer
   */
  @Get('{id}/invoices/summary')
  @Extension('x-operation', { entity: 'invoice', access: 'read' })
  public async summarizeInvoices(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<InvoiceSummariesDto> {
    return accepted(await summarizeInvoices(this.dependencies, occasionOf(request), id));
  }
}
