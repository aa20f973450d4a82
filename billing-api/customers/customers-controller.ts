import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Query,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
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
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../edge/versions.js';
import type { WriteDependencies } from '../records/unit.js';

@Route('v1/customers')
@Tags('Customers')
export class CustomersController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a customer */
  @Post()
  @Extension('x-operation', {
    entity: 'customer',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  @SuccessResponse(201, 'Created')
  public async createCustomer(
    @Request() request: HttpRequest,
    @Body() body: CreateCustomerBody,
  ): Promise<CustomerDto> {
    const customer = accepted(await createCustomer(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, customer.version);
    return customer.dto;
  }

  /** @summary Search customers */
  @Post('search')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public async searchCustomers(
    @Request() request: HttpRequest,
    @Body() body: SearchCustomersBody,
  ): Promise<CustomerListDto> {
    return accepted(await searchCustomers(this.dependencies, occasionOf(request), body));
  }

  /** @summary Read a customer by your own id of it */
  @Get('external/{external_id}')
  @Extension('x-operation', { entity: 'customer', access: 'read', versioned: true })
  public async readCustomerByExternalId(
    @Request() request: HttpRequest,
    @Path() external_id: string,
  ): Promise<CustomerDto> {
    const name = { externalId: external_id };
    const customer = accepted(await readCustomer(this.dependencies, occasionOf(request), name));
    tagReadVersion(this, request, customer.version);
    return customer.dto;
  }

  /** @summary Read a customer */
  @Get('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'read', versioned: true })
  public async readCustomer(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CustomerDto> {
    const customer = accepted(await readCustomer(this.dependencies, occasionOf(request), { id }));
    tagReadVersion(this, request, customer.version);
    return customer.dto;
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
    @Request() request: HttpRequest,
    @Query() external_customer_id: string,
    @Body() body: ChangeCustomerBody,
  ): Promise<CustomerDto> {
    return this.change(request, { externalId: external_customer_id }, body);
  }

  /** @summary Change a customer */
  @Put('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'write', versioned: true })
  public changeCustomer(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeCustomerBody,
  ): Promise<CustomerDto> {
    return this.change(request, { id }, body);
  }

  /**
   * Fails while the customer has a subscription that is not cancelled. Its usage stays.
   * @summary Archive a customer
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'write' })
  @SuccessResponse(204, 'Archived')
  public async archiveCustomer(@Request() request: HttpRequest, @Path() id: string): Promise<void> {
    accepted(await archiveCustomer(this.dependencies, occasionOf(request), id));
  }

  private async change(
    request: HttpRequest,
    named: CustomerTarget,
    body: ChangeCustomerBody,
  ): Promise<CustomerDto> {
    const target = { ...named, isExpected: expectedVersions(request) };
    const change = changeCustomer(this.dependencies, occasionOf(request), { target, body });
    const customer = accepted(await change);
    tagVersion(this, customer.version);
    return customer.dto;
  }
}
