import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Query,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { archiveCustomer } from './archive-customer.js';
import {
  changeCustomer,
  createCustomer,
  readCustomer,
  type CustomerTarget,
} from './customer-operations.js';
import type {
  ChangeCustomerBody,
  CreateCustomerBody,
  CustomerDto,
  CustomerListDto,
  SearchCustomersBody,
} from '../declarations/customers/customer.resource.js';
import { searchCustomers } from './search-customers.js';
import { ApiController } from '../edge/api-controller.js';
import { expectedVersions } from '../edge/versions.js';
import type { WriteDependencies } from '../records/unit.js';

@Route('v1/customers')
@Tags('Customers')
export class CustomersController extends ApiController<WriteDependencies> {
  /** @summary Create a customer */
  @Post()
  @Extension('x-operation', {
    entity: 'customer',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  @SuccessResponse(201, 'Created')
  public async createCustomer(@Body() body: CreateCustomerBody): Promise<CustomerDto> {
    return this.tagged(await this.run(createCustomer, body)).dto;
  }

  /** @summary Search customers */
  @Post('search')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public searchCustomers(@Body() body: SearchCustomersBody): Promise<CustomerListDto> {
    return this.run(searchCustomers, body);
  }

  /** @summary Read a customer by your own id of it */
  @Get('external/{external_id}')
  @Extension('x-operation', { entity: 'customer', access: 'read', versioned: true })
  public async readCustomerByExternalId(@Path() external_id: string): Promise<CustomerDto> {
    return this.matched(await this.run(readCustomer, { externalId: external_id })).dto;
  }

  /** @summary Read a customer */
  @Get('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'read', versioned: true })
  public async readCustomer(@Path() id: string): Promise<CustomerDto> {
    return this.matched(await this.run(readCustomer, { id })).dto;
  }

  /** @summary Change a customer by your own id of it */
  @Put()
  @Extension('x-operation', {
    entity: 'customer',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  public changeCustomerByExternalId(
    @Query() external_customer_id: string,
    @Body() body: ChangeCustomerBody,
  ): Promise<CustomerDto> {
    return this.change({ externalId: external_customer_id }, body);
  }

  /** @summary Change a customer */
  @Put('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'write', versioned: true })
  public changeCustomer(
    @Path() id: string,
    @Body() body: ChangeCustomerBody,
  ): Promise<CustomerDto> {
    return this.change({ id }, body);
  }

  /**
   * Fails while the customer has a subscription that is not cancelled. Its usage stays.
   * @summary Archive a customer
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'write' })
  @SuccessResponse(204, 'Archived')
  public async archiveCustomer(@Path() id: string): Promise<void> {
    await this.run(archiveCustomer, id);
  }

  private async change(named: CustomerTarget, body: ChangeCustomerBody): Promise<CustomerDto> {
    return this.tagged(
      await this.run(changeCustomer, {
        target: { ...named, isExpected: expectedVersions(this.request) },
        body,
      }),
    ).dto;
  }
}
